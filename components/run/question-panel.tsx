'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { Button } from '@/components/ui/button';
import { absolute } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { JsonTree } from '@/components/ui/json-tree';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { Ago } from '@/components/ui/time';
import { type ApiProblem, orThrow, problemOf } from '@/lib/client/api';
import type { Question, RunSummary } from '@/lib/client/api-types';
import { newCommandId, sendCommand } from '@/lib/client/plan-queries';
import { payloadQuery, runKeys } from '@/lib/client/run-queries';
import type { Json } from '@/lib/core/shared/canonical-json';
import { parseJson } from './payload-view';
import { type FieldProblem, fieldsOf, formValue, verdictField } from './schema-fields';
import { SchemaForm } from './schema-form';

/** What a question says: its words, the schema of its answer, and whatever else the agent put beside them. */
export interface AskedQuestion {
  readonly prompt: string;
  readonly schema: unknown;
  readonly rest: Readonly<Record<string, unknown>>;
}

export function readQuestion(text: string): AskedQuestion {
  const value = parseJson(text)?.value;
  if (typeof value === 'string') return { prompt: value, schema: undefined, rest: {} };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { prompt: text, schema: undefined, rest: {} };
  const { prompt, schema, until: _until, ...rest } = value as Record<string, unknown>;
  return typeof prompt === 'string'
    ? { prompt, schema, rest }
    : { prompt: '', schema, rest: { ...rest, ...(prompt === undefined ? {} : { prompt }) } };
}

function AnswerForm({
  run,
  question,
  asked,
  onRefused,
}: {
  readonly onRefused: (problem: ApiProblem) => void;
  readonly run: RunSummary;
  readonly question: Question;
  readonly asked: AskedQuestion;
}) {
  const client = useQueryClient();
  const [commandId] = useState(newCommandId);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [reason, setReason] = useState('');
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const fields = fieldsOf(asked.schema);
  const verdict = verdictField(fields);
  const others = fields.filter((field) => field !== verdict);
  const give = useMutation({
    mutationFn: async (value: Json) =>
      orThrow(
        await sendCommand(run.id, {
          mode: 'answer',
          commandId,
          reason,
          questionId: question.questionId,
          questionDigest: question.questionDigest,
          value,
        }),
      ),
    onSuccess: () => {
      toast.success('The answer was recorded');
      void client.invalidateQueries({ queryKey: runKeys.live(run.id) });
    },
    onError: (error) => {
      onRefused(problemOf(error));
      void client.invalidateQueries({ queryKey: runKeys.live(run.id) });
    },
  });
  const send = (extra: Readonly<Record<string, string>>) => {
    const value = formValue(fields, { ...texts, ...extra });
    setProblems(value.ok ? [] : value.problem);
    if (value.ok) give.mutate(value.value);
  };
  const locked = run.actions.answer.possible
    ? give.isPending || give.isSuccess
      ? 'Sent'
      : undefined
    : (run.actions.answer.reason ?? 'Cannot be answered now');
  const lock = locked === undefined ? {} : { reason: locked };
  return (
    <>
      <SchemaForm
        fields={others}
        texts={texts}
        onChange={(name, text) => setTexts({ ...texts, [name]: text })}
      />
      <label className="mt-2 block">
        <span className="small">
          Reason<span className="third"> optional, kept in the journal</span>
        </span>
        <input
          className="text"
          aria-label="Reason"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      {problems.length > 0 && (
        <ProblemNote title="Not sent yet" detail={problems.map((each) => each.message).join('; ')} />
      )}
      <div className="mt-3 flex gap-2">
        {verdict ? (
          <>
            <Button
              kind="primary"
              glyph="s-completed"
              {...lock}
              onPress={() => send({ [verdict.name]: 'true' })}
            >
              Approve
            </Button>
            <Button glyph="s-failed" {...lock} onPress={() => send({ [verdict.name]: 'false' })}>
              Reject
            </Button>
          </>
        ) : (
          <Button kind="primary" {...lock} onPress={() => send({})}>
            Send the answer
          </Button>
        )}
      </div>
    </>
  );
}

/** A question to a person: shown whole, answered here. */
export function QuestionPanel({
  run,
  question,
  onRefused,
}: {
  /** Told where the answer was not taken: the question may be gone by then. */
  readonly onRefused: (problem: ApiProblem) => void;
  readonly run: RunSummary;
  readonly question: Question;
}) {
  const payload = useQuery(payloadQuery(question.question.sha256));
  const asked = payload.data === undefined ? undefined : readQuestion(payload.data);
  return (
    <section className="question" data-tone="attention" aria-label="Question">
      <h2>
        <Glyph name="s-waiting" toned />
        Waits for a person
        <span className="third small font-normal">
          <code>{question.stepKey}</code>, asked <Ago at={question.askedAt} />
          {question.until !== null && `, can be answered until ${absolute(Date.parse(question.until))}`}
        </span>
      </h2>
      {payload.isPending && <Skeleton rows={2} />}
      {payload.isError && (
        <ProblemNote title="The question could not be loaded" detail={problemOf(payload.error).detail} />
      )}
      {asked && (
        <div className="asked">
          <div>
            <p className="prompt">{asked.prompt}</p>
            {Object.keys(asked.rest).length > 0 && (
              <JsonTree label="What the question is about" value={asked.rest} openTo={4} />
            )}
          </div>
          <div>
            <AnswerForm run={run} question={question} asked={asked} onRefused={onRefused} />
          </div>
        </div>
      )}
    </section>
  );
}

/** Why an answer was not taken; stays when the question itself has gone. */
export function AnswerRefusal({
  problem,
  onClose,
}: {
  readonly problem: ApiProblem;
  readonly onClose: () => void;
}) {
  const by = problem.members['by'];
  const title =
    problem.kind === 'already-answered'
      ? `Already answered${typeof by === 'string' ? ` by ${by}` : ''}`
      : problem.title;
  return (
    <ProblemNote title={title} detail={problem.detail}>
      <Button size="small" onPress={onClose}>
        Close
      </Button>
    </ProblemNote>
  );
}
