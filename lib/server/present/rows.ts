import { scopeOf, visitOf } from '@/lib/core/events/step-key';
import { askAgainAt, evidenceOf, ledgerOf, mayHaveHappenedTwice } from '@/lib/core/projections/ledger';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  StepRecord,
} from '@/lib/core/projections/records';
import type { AttemptView } from '@/lib/usecases/get-step';
import type { MessageView } from '@/lib/usecases/list-messages';
import type { Bucket } from '@/lib/usecases/ports';
import type {
  BucketRow,
  CheckpointRow,
  EffectRow,
  MessageRow,
  Question,
  StepDetail,
  StepRow,
} from '@/lib/wire/v1/runs';
import { iso, isoOrNull, orNull } from './common';

export function presentStep(step: StepRecord, inForce: boolean): StepRow {
  const { state, visit } = visitOf(step.stepKey);
  return {
    stepKey: step.stepKey,
    name: step.name,
    scope: scopeOf(step.stepKey),
    state,
    visit,
    kind: step.kind,
    effect: orNull(step.effect),
    status: step.status,
    attempt: step.attempt,
    executions: step.executions,
    line: step.line,
    inForce,
    startedSeq: step.startedSeq,
    startedAt: iso(step.startedAt),
    attemptSeq: step.attemptSeq,
    endedSeq: orNull(step.endedSeq),
    endedAt: isoOrNull(step.endedAt),
    inputDigest: step.inputDigest,
    input: orNull(step.input),
    conversation: step.conversation ?? 0,
    result: orNull(step.result),
    message: orNull(step.message),
    receipt: orNull(step.receipt),
    failure: orNull(step.failure),
    error: orNull(step.error),
    idempotencyKey: orNull(step.intent?.idempotencyKey),
    guarded: orNull(step.intent?.guarded),
    usage: orNull(step.usage),
    api: orNull(step.api),
    model: orNull(step.model),
    verdict: orNull(step.verdict),
    source:
      step.source === undefined ? null : { runId: orNull(step.source.runId), seq: orNull(step.source.seq) },
  };
}

export const presentStepDetail = (view: {
  readonly step: StepRecord;
  readonly inForce: boolean;
  readonly attempts: readonly AttemptView[];
}): StepDetail => ({
  ...presentStep(view.step, view.inForce),
  attempts: view.attempts.map((attempt) => ({
    attempt: attempt.attempt,
    seq: attempt.seq,
    at: iso(attempt.at),
    endedSeq: orNull(attempt.endedSeq),
    endedAt: isoOrNull(attempt.endedAt),
    outcome: attempt.outcome,
    error: orNull(attempt.error),
    epoch: attempt.epoch,
    workerId: orNull(attempt.workerId),
  })),
});

export const presentCheckpoint = (checkpoint: CheckpointRecord, inForce: boolean): CheckpointRow => ({
  id: checkpoint.id,
  n: checkpoint.n,
  seq: checkpoint.seq,
  entrySeq: checkpoint.entrySeq,
  name: checkpoint.name,
  trigger: checkpoint.trigger,
  at: iso(checkpoint.at),
  visit: checkpoint.visit,
  line: checkpoint.line,
  inForce,
});

/** A ledger's rows, each beside the others of its occurrence. */
export function presentEffects(effects: readonly EffectRecord[]): readonly EffectRow[] {
  const ledger = ledgerOf(effects);
  return effects.map((effect) => presentEffect(effect, ledger.get(effect.stepKey) ?? []));
}

/** `askAgainAt` is shown while an answer may still be early, see DESIGN §5. */
const presentEffect = (effect: EffectRecord, generations: readonly EffectRecord[]): EffectRow => ({
  stepKey: effect.stepKey,
  name: effect.name,
  effect: effect.effect,
  status: effect.status,
  generation: effect.generation,
  intentSeq: effect.intentSeq,
  intentAt: iso(effect.intentAt),
  idempotencyKey: effect.idempotencyKey,
  receipt: orNull(effect.receipt),
  executions: effect.executions,
  guarded: effect.intent.guarded,
  verifiable: effect.intent.verifiable,
  runId: effect.runId,
  confirmedBy: orNull(effect.confirmedBy),
  held: effect.held === true,
  askAgainAt: effect.status === 'in-doubt' ? iso(askAgainAt(effect)) : null,
  input: orNull(effect.input),
  result: orNull(effect.result),
  argsDigest: effect.intent.argsDigest,
  attempt: effect.attempt,
  firstIntentAt: iso(effect.firstIntentAt),
  settledAt: iso(askAgainAt(effect)),
  evidence: evidenceOf(effect).map(({ runId, intentSeq, source, receipt }) => ({
    runId,
    intentSeq,
    source,
    receipt: orNull(receipt),
  })),
  perhapsTwice: mayHaveHappenedTwice(effect, generations),
});

export const presentMessage = (message: MessageView): MessageRow => ({
  n: message.n,
  seq: message.seq,
  at: iso(message.at),
  role: message.role,
  message: message.message,
  inherited: message.inherited,
});

export const presentQuestion = (question: QuestionRecord, inForce: boolean): Question => ({
  questionId: question.questionId,
  stepKey: question.stepKey,
  question: question.question,
  questionDigest: question.questionDigest,
  status: question.status,
  askedSeq: question.askedSeq,
  askedAt: iso(question.askedAt),
  until: isoOrNull(question.until),
  answeredBy: orNull(question.answeredBy),
  answer: orNull(question.answer),
  inForce,
});

export const presentBucket = (bucket: Bucket): BucketRow => ({
  ...bucket,
  fromAt: iso(bucket.fromAt),
  toAt: iso(bucket.toAt),
});
