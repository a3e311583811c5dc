import type {
  CommandId,
  MachineDigest,
  QuestionId,
  RunId,
  Seq,
  Sha256,
  StepKey,
} from '@/lib/core/events/ids';
import type { Edit, NewEvent } from '@/lib/core/events/run-event';
import type { Plan, PlanMode } from '@/lib/core/planner/plan';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { DecisionAsk, LoadedPlan, PlanAsk, PlanProblem } from './load-plan';
import type { AnswerRecord } from './ports';
import type { HeldBy, Mirror, NotFound } from './problems';

interface Given {
  readonly commandId: CommandId;
  readonly reason: string;
}

/** An order that carries out a plan. */
export type PlannedCommand<Mode extends PlanMode = PlanMode> = Given &
  Omit<PlanAsk, 'mode'> & { readonly mode: Mode; readonly planDigest: Sha256 };

/** An order as it is given. */
export type Command =
  | PlannedCommand
  | (Given & { readonly mode: 'verify'; readonly stepKey: StepKey })
  | (Given & { readonly mode: 'decide'; readonly decisions: Readonly<Record<string, DecisionAsk>> })
  | (Given & {
      readonly mode: 'answer';
      readonly questionId: QuestionId;
      readonly questionDigest: Sha256;
      readonly value: Json;
    })
  | (Given & { readonly mode: 'pause' })
  | (Given & { readonly mode: 'cancel' });

export type CommandOf<Mode extends Exclude<Command['mode'], PlanMode>> = Extract<
  Command,
  { readonly mode: Mode }
>;

/** `runId` is the new run's for fork and replay. */
export interface CommandAnswer {
  readonly commandId: CommandId;
  readonly runId: RunId;
  readonly headSeq: Seq;
}

/** What is kept with a planned command's answer, for its claim; never leaves the console with that answer. */
export interface AcceptedPlan {
  readonly plan: Plan;
  readonly plannedAt: number;
  readonly machineDigest?: MachineDigest;
  /** Head and ledger directly after the acceptance: while they stand, the plan stands. */
  readonly headSeq: Seq;
  readonly ledgerVersion: number;
}

/** Another order was given under this id. */
export interface CommandDiffers {
  readonly kind: 'command-differs';
  readonly detail: string;
}

export type CommandProblem =
  | NotFound
  | Mirror
  | HeldBy
  | PlanProblem
  | CommandDiffers
  | { readonly kind: 'stale-plan'; readonly plan: LoadedPlan }
  /** The plan stands, but has obstacles. */
  | { readonly kind: 'blocked'; readonly detail: string; readonly plan: LoadedPlan }
  | { readonly kind: 'not-possible'; readonly detail: string }
  | { readonly kind: 'already-answered'; readonly by: string; readonly detail: string }
  | { readonly kind: 'question-changed'; readonly detail: string; readonly questionDigest: Sha256 }
  | { readonly kind: 'not-in-doubt'; readonly stepKey: string; readonly detail: string }
  /** Effects of several runs in one `decide`; `runs` says on which to decide what. */
  | {
      readonly kind: 'several-runs';
      readonly runs: readonly { readonly runId: RunId; readonly stepKeys: readonly StepKey[] }[];
      readonly detail: string;
    }
  | {
      readonly kind: 'intent-changed';
      readonly stepKey: string;
      readonly intentSeq: Seq;
      readonly detail: string;
    };

export const commandKey = (id: CommandId): string => `command:${id}`;

/** Digest of what was asked, for telling a repeated order from another one under its id. */
export function commandDigest(deps: Pick<UsecaseDeps, 'hash'>, runId: RunId, command: Command): Sha256 {
  return deps.hash(canonicalJson({ runId, command: command as unknown as Json }));
}

/** The first answer, where this order was given before; a problem where another one was. */
export function answeredBefore(
  answer: AnswerRecord | undefined,
  requestDigest: Sha256,
): Result<CommandAnswer | undefined, CommandDiffers> {
  if (answer === undefined) return ok(undefined);
  if (answer.requestDigest !== requestDigest) {
    return fail({
      kind: 'command-differs',
      detail: 'Another order was given under this commandId; choose a new one.',
    });
  }
  const { commandId, runId, headSeq } = JSON.parse(answer.answer) as CommandAnswer;
  return ok({ commandId, runId, headSeq });
}

/** `command.accepted` without the fields that depend on the mode. */
export const acceptance = (command: Command, actor: string) =>
  ({
    kind: 'command.accepted',
    commandId: command.commandId,
    mode: command.mode,
    actor,
    reason: command.reason,
  }) as const;

/** The end of an order that is not carried out. */
export const withdrawn = (id: string, detail: string): NewEvent => ({
  kind: 'command.ended',
  commandId: id as CommandId,
  outcome: 'withdrawn',
  detail,
});

/** The parts of a planned command that its event carries, empty ones left out. */
export const plannedParts = (
  command: PlannedCommand,
  { decisions }: LoadedPlan,
): {
  readonly from: string;
  readonly planDigest: Sha256;
  readonly edits?: readonly Edit[];
  readonly decisions?: LoadedPlan['decisions'];
  readonly options?: PlanAsk['options'];
} => ({
  from: command.from,
  planDigest: command.planDigest,
  ...(command.edits.length > 0 && { edits: command.edits }),
  ...(Object.keys(decisions).length > 0 && { decisions }),
  ...(Object.keys(command.options).length > 0 && { options: command.options }),
});
