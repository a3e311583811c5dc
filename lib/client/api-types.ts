import type { z } from 'zod';
import type { CommandBody, commandAnswer, commandBody, planBody } from '@/lib/wire/v1/commands';
import type {
  bucketRow,
  checkpointRow,
  effectRow,
  graphAt,
  machine,
  messageRow,
  planAnswer,
  question,
  runSummary,
  stateAt,
  stateDiff,
  stepDetail,
  stepRow,
} from '@/lib/wire/v1/runs';

/* The API's answers as the browser sees them: types only, so that no schema is shipped. */

export type RunSummary = z.output<typeof runSummary>;
export type RunAction = keyof RunSummary['actions'];
export type Question = z.output<typeof question>;
export type StepRow = z.output<typeof stepRow>;
export type StepDetail = z.output<typeof stepDetail>;
export type StepStatus = StepRow['status'];
export type CheckpointRow = z.output<typeof checkpointRow>;
export type EffectRow = z.output<typeof effectRow>;
export type MessageRow = z.output<typeof messageRow>;
export type StateAt = z.output<typeof stateAt>;
export type StateDiff = z.output<typeof stateDiff>;
export type GraphAt = z.output<typeof graphAt>;
export type BucketRow = z.output<typeof bucketRow>;
export type PlanAnswer = z.output<typeof planAnswer>;
export type PlannedStep = PlanAnswer['steps'][number];
export type PlanMode = PlanAnswer['mode'];
export type Disposition = PlannedStep['disposition'];
export type PlanBody = z.input<typeof planBody>;
export type DecisionBody = NonNullable<NonNullable<PlanBody['decisions']>[string]>;
export type CommandAnswer = z.output<typeof commandAnswer>;
export type MachineAnswer = z.output<typeof machine>;
export type { CommandBody };
/** An order before it has its id. */
export type OrderBody = WithoutId<z.input<typeof commandBody>>;
type WithoutId<Body> = Body extends { readonly commandId: unknown } ? Omit<Body, 'commandId'> : never;

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly nextCursor: string | null;
}
