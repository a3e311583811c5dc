'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Refusal } from '@/components/resume/refusal';
import { Button } from '@/components/ui/button';
import { seen } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { JsonTree } from '@/components/ui/json-tree';
import { Later, part } from '@/components/ui/later';
import { Skeleton } from '@/components/ui/problem-note';
import { Ago, useNow } from '@/components/ui/time';
import { useZone } from '@/components/ui/zone';
import type { ApiProblem } from '@/lib/client/api';
import type { Question, RunSummary } from '@/lib/client/api-types';
import { payloadQuery } from '@/lib/client/run-queries';
import { type AskedQuestion, questionStands, readQuestion, untilWords } from './question';
import { Unread } from './unread';

const answerForm = part(() => import('./answer-form').then((module) => module.AnswerForm));

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
  const zone = useZone();
  const until = question.until === null ? undefined : untilWords(Date.parse(question.until), now, zone);
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
      {payload.isError && <Unread what="The question" error={payload.error} onAgain={payload.refetch} />}
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
          <Later
            of={answerForm}
            shown
            fills
            instead={<Skeleton rows={2} />}
            props={{ run, question, asked, onRefused }}
          />
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
