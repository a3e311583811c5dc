'use client';

import { useState } from 'react';
import { OrderNote } from '@/components/resume/order-note';
import { Button } from '@/components/ui/button';
import { useUnsaved } from '@/components/ui/hotkeys';
import { ProblemNote } from '@/components/ui/problem-note';
import { toast } from '@/components/ui/toast';
import type { ApiProblem } from '@/lib/client/api';
import type { Question, RunSummary } from '@/lib/client/api-types';
import { useOrder } from '@/lib/client/use-order';
import type { AskedQuestion } from './question';
import { type FieldProblem, fieldsOf, formValue, verdictField } from './schema-fields';
import { SchemaForm } from './schema-form';

/** The answer's fields, as the question's schema has them, and the buttons that send it. */
export function AnswerForm({
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
