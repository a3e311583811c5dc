'use client';

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { toast } from 'sonner';
import { OrderNote } from '@/components/resume/order-note';
import { Refusal } from '@/components/resume/refusal';
import { Button } from '@/components/ui/button';
import { seen } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useUnsaved } from '@/components/ui/hotkeys';
import { JsonTree } from '@/components/ui/json-tree';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { Ago, useNow } from '@/components/ui/time';
import { type ApiProblem, problemOf } from '@/lib/client/api';
import type { Question, RunSummary } from '@/lib/client/api-types';
import { payloadQuery } from '@/lib/client/run-queries';
import { useOrder } from '@/lib/client/use-order';
import { type AskedQuestion, questionStands, readQuestion, untilWords } from './question';
import { type FieldProblem, fieldsOf, formValue, verdictField } from './schema-fields';
import { SchemaForm } from './schema-form';

function AnswerForm({
  run,
  question,
  asked,
  onRefused,
}: {
  readonly onRefused: (problem: ApiProblem | undefined) => void;
  readonly run: RunSummary;
  readonly question: Question;
  readonly asked: AskedQuestion;
}) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [reason, setReason] = useState('');
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const fields = fieldsOf(asked.schema);
  const verdict = verdictField(fields);
  const others = fields.filter((field) => field !== verdict);
  const order = useOrder(run.id, `answer ${question.questionId}`, {
    onAccepted: () => {
      toast.success('The answer was recorded');
      onRefused(undefined);
    },
    onRefused,
  });
  const lock = order.accepted === undefined ? order.lock : 'The answer was recorded';
  useUnsaved(
    order.accepted === undefined && (reason !== '' || Object.values(texts).some((text) => text !== '')),
  );
  const send = (words: string, extra: Readonly<Record<string, string>> = {}) => {
    const value = formValue(fields, { ...texts, ...extra });
    setProblems(value.ok ? [] : value.problem);
    if (!value.ok) return;
    order.give(
      {
        mode: 'answer',
        reason,
        questionId: question.questionId,
        questionDigest: question.questionDigest,
        value: value.value,
      },
      words,
    );
  };
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
      {order.unanswered && <OrderNote order={order} />}
      <div className="mt-3 flex gap-2">
        {verdict ? (
          <>
            <Button
              kind="primary"
              glyph="s-completed"
              reason={lock}
              onPress={() => send('Approve', { [verdict.name]: 'true' })}
            >
              Approve
            </Button>
            <Button
              glyph="s-failed"
              reason={lock}
              onPress={() => send('Reject', { [verdict.name]: 'false' })}
            >
              Reject
            </Button>
          </>
        ) : (
          <Button kind="primary" reason={lock} onPress={() => send('Send the answer')}>
            Send the answer
          </Button>
        )}
      </div>
    </>
  );
}

function Asked({ asked, children }: { readonly asked: AskedQuestion; readonly children?: ReactNode }) {
  return (
    <div className="asked">
      <div>
        <p className="prompt">{seen(asked.prompt)}</p>
        {Object.keys(asked.rest).length > 0 && (
          <JsonTree label="What the question is about" value={asked.rest} openTo={4} />
        )}
      </div>
      {children && <div>{children}</div>}
    </div>
  );
}

/** A question to a person: shown whole, answered here. One that can no longer be answered is folded, with the reason. */
export function QuestionPanel({
  run,
  question,
  onRefused,
}: {
  /** Told where the answer was not taken: the question may be gone by then. And told nothing once one was. */
  readonly onRefused: (problem: ApiProblem | undefined) => void;
  readonly run: RunSummary;
  readonly question: Question;
}) {
  const payload = useQuery(payloadQuery(question.question.sha256));
  const asked = payload.data === undefined ? undefined : readQuestion(payload.data);
  const stands = questionStands(run);
  const now = useNow();
  const until = question.until === null ? undefined : untilWords(Date.parse(question.until), now);
  const about = (
    <span className="third small font-normal">
      <code>{question.stepKey}</code>, asked <Ago at={question.askedAt} />
      {until?.past === false && `, ${until.words}`}
      {until?.past === true && (
        <span data-tone="attention">
          , <Glyph name="s-unknown" toned /> {until.words}
        </span>
      )}
    </span>
  );
  const missing = (
    <>
      {payload.isPending && <Skeleton rows={2} />}
      {payload.isError && (
        <ProblemNote title="The question could not be loaded" detail={problemOf(payload.error).detail} />
      )}
    </>
  );
  if (stands.kind === 'closed')
    return (
      <details className="question" data-tone="neutral" aria-label="Question">
        <summary>
          A question stayed open. <span className="second">{stands.reason}</span> {about}
        </summary>
        {missing}
        {asked && <Asked asked={asked} />}
      </details>
    );
  return (
    <section className="question" data-tone="attention" aria-label="Question">
      <h2>
        <Glyph name="s-waiting" toned />
        {stands.note === undefined ? 'Waits for a person' : 'A question is open'}
        {about}
      </h2>
      {stands.note !== undefined && <p className="small second">{stands.note}</p>}
      {missing}
      {asked && (
        <Asked asked={asked}>
          <AnswerForm run={run} question={question} asked={asked} onRefused={onRefused} />
        </Asked>
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
  return (
    <Refusal problem={problem}>
      <Button size="small" onPress={onClose}>
        Close
      </Button>
    </Refusal>
  );
}
