import { type RunId, runId, type Seq, type Sha256, seq } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { Edit, RunEvent, VariablePatch } from '@/lib/core/events/run-event';
import { type Draft, extend } from '@/lib/core/journal/extend';
import { inheritEvents } from '@/lib/core/journal/inherit';
import { newRun } from '@/lib/core/journal/new-run';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import type { RunRecord, RunState } from '@/lib/core/projections/records';
import type { Json } from '@/lib/core/shared/canonical-json';
import { namesIn, pointerTo } from '@/lib/core/shared/json-pointer';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import {
  type AcceptedPlan,
  acceptance,
  answeredBefore,
  type CommandAnswer,
  type CommandProblem,
  commandKey,
  type PlannedCommand,
  plannedParts,
} from './command';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import type { LoadedPlan } from './load-plan';
import { keptMoving, MOST_TRIES, planFor } from './order-recovery';
import { jsonPayload, refOf } from './payload-of';
import { noRun } from './problems';
import { setAtPointer } from './set-at-pointer';
import { eventPages, stateAt } from './state-at';

type Deps = Pick<UsecaseDeps, 'store' | 'engine' | 'hash' | 'ids' | 'leaseMs' | 'judgedFrom' | 'actor'>;
type Ask = PlannedCommand<'fork' | 'replay'>;

/**
 * `fork` and `replay`: a new run of the lineage. Its first event is the acceptance; a fork goes on with copies of what
 * it inherits, so that it stands on its own, and with the edits as events.
 */
export async function branchRun(
  deps: Deps,
  parentId: RunId,
  command: Ask,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const stored = await deps.store.run(parentId);
    if (stored === undefined) return fail(noRun(parentId));
    const parent = await judgeRun(deps, stored);
    const loaded = await planFor(deps, parent, command);
    if (!loaded.ok) return loaded;
    const start =
      command.mode === 'fork' ? await forkStart(deps, parent, command.edits, loaded.value) : ok(replayStart);
    if (!start.ok) return start;
    const result = await accept(deps, parent, command, requestDigest, loaded.value, start.value);
    if (result.ok || result.problem.kind !== 'moved') return result as Result<CommandAnswer, CommandProblem>;
  }
  return fail({ kind: 'not-possible', detail: keptMoving });
}

interface Start {
  readonly drafts: readonly Draft[];
  readonly payloads: readonly Payload[];
}
const replayStart: Start = { drafts: [], payloads: [] };

async function accept(
  deps: Deps,
  parent: RunRecord,
  command: Ask,
  requestDigest: Sha256,
  loaded: LoadedPlan,
  start: Start,
): Promise<Result<CommandAnswer, CommandProblem | { readonly kind: 'moved' }>> {
  const id = runId(deps.ids.next('run'));
  const key = commandKey(command.commandId);
  const { plan } = loaded;
  const at = plan.from.seq;
  const result = await deps.store.commit<CommandAnswer, CommandProblem | { readonly kind: 'moved' }>({
    runId: id,
    root: parent.root,
    effectKeys: 'all',
    answerKey: key,
    decide: (context) => {
      const before = answeredBefore(context.answer, requestDigest);
      if (!before.ok) return before;
      if (before.value !== undefined) return ok({ value: before.value, change: undefined });
      // What the lineage's effects came to since the plan was made may be another plan.
      if (context.ledgerVersion !== loaded.ledgerVersion) return fail({ kind: 'moved' });
      const { now } = context;
      const lineage = { runId: parent.runId, seq: at, mode: command.mode };
      const fresh = newRun({
        runId: id,
        agent: parent.state.agent,
        createdAt: now,
        root: parent.root,
        parent: lineage,
        source: 'sdk',
      });
      const accepted = {
        ...acceptance(command, deps.actor),
        ...plannedParts(command, loaded),
        parent: { runId: parent.runId, seq: at },
      };
      const queued = { kind: 'run.queued', reason: 'command', commandId: command.commandId } as const;
      const drafts: readonly Draft[] = [accepted, ...start.drafts, queued];
      const change = extend(
        fresh,
        context.effects,
        drafts,
        { at: now, epoch: fresh.epoch, by: 'console' },
        { snapshotAtEnd: true },
      );
      const value: CommandAnswer = { commandId: command.commandId, runId: id, headSeq: change.run.headSeq };
      const kept: AcceptedPlan = {
        plan,
        plannedAt: loaded.plannedAt,
        ...(plan.machineDigest !== undefined && { machineDigest: plan.machineDigest }),
        headSeq: change.run.headSeq,
        ledgerVersion: context.ledgerVersion + (change.effects.length > 0 ? 1 : 0),
      };
      const answer = {
        key,
        runId: id,
        requestDigest,
        answer: JSON.stringify({ ...value, accepted: kept }),
        at: now,
      };
      return ok({
        value,
        change: { ...change, payloads: [...loaded.payloads, ...start.payloads], answers: [answer] },
      });
    },
  });
  if (result.ok) deps.engine.wake(result.value.runId);
  return result;
}

type EditProblem = Extract<CommandProblem, { readonly kind: 'edit-refused' }>;

/** Copies up to the point (with edits: up to where its open visit was entered), then the edits. */
async function forkStart(
  deps: Deps,
  parent: RunRecord,
  edits: readonly Edit[],
  { plan }: LoadedPlan,
): Promise<Result<Start, EditProblem>> {
  const upTo = edits.length > 0 ? plan.from.entrySeq : plan.from.seq;
  const { state } = await stateAt(deps, parent, upTo);
  const copies = inheritEvents(parent.runId, await pathUpTo(deps, parent, upTo), seq(2));
  const edited = await applyEdits(deps, state, edits);
  if (!edited.ok) return edited;
  const { input, patch, payloads } = edited.value;
  const started = withInput(copies, parent, input);
  return ok({
    drafts: patch.length === 0 ? started : [...started, { kind: 'variables.patched', patch }],
    payloads,
  });
}

async function pathUpTo(
  deps: Pick<UsecaseDeps, 'store'>,
  parent: RunRecord,
  upTo: Seq,
): Promise<readonly RunEvent[]> {
  // The path as it was seen at the point: rewinds after it do not count.
  const segments = segmentsAt(
    parent.state.rewinds.filter((rewind) => rewind.seq <= upTo),
    upTo,
  );
  const path: RunEvent[] = [];
  for await (const page of eventPages(deps.store, parent.runId, seq(0), upTo)) {
    for (const event of page) if (inForce(event.seq, segments)) path.push(event);
  }
  return path;
}

/** The copies with a `run.started`, whose input is the edited one where there is one. */
function withInput(
  copies: readonly Draft[],
  parent: RunRecord,
  input: PayloadRef | undefined,
): readonly Draft[] {
  const edited = input !== undefined && { input };
  if (copies.some((draft) => draft.kind === 'run.started')) {
    return copies.map((draft) => (draft.kind === 'run.started' ? { ...draft, ...edited } : draft));
  }
  const { agent, machineDigest, tags, input: recorded } = parent.state;
  const started: Draft = {
    kind: 'run.started',
    agent,
    ...(machineDigest !== undefined && { machineDigest }),
    ...(recorded !== undefined && { input: recorded }),
    ...edited,
    tags,
  };
  return [started, ...copies];
}

interface Edited {
  readonly input: PayloadRef | undefined;
  readonly patch: readonly VariablePatch[];
  readonly payloads: readonly Payload[];
}

/**
 * Edits as whole new values of what they touch. A step's output is not written here: it travels with the order, and
 * the worker answers that step with it.
 */
async function applyEdits(
  deps: Deps,
  state: RunState,
  edits: readonly Edit[],
): Promise<Result<Edited, EditProblem>> {
  const values = new Map<string, Json>();
  let input: Json | undefined;
  for (const edit of edits) {
    const [kind, ...segments] = namesIn(edit.path);
    if (kind === 'steps') continue;
    if (kind !== 'input' && kind !== 'variables')
      return refusedEdit(edit, 'Only /input, /variables/… and /steps/…/result can be edited.');
    const [name = '', ...deeper] = kind === 'variables' ? segments : ['', ...segments];
    const recorded =
      kind === 'input'
        ? state.input
        : Object.hasOwn(state.variables, name)
          ? state.variables[name]
          : undefined;
    const before = kind === 'input' ? input : values.get(name);
    const base = before ?? (deeper.length === 0 ? null : await jsonAt(deps, recorded));
    const after = base === undefined ? undefined : setAtPointer(base, deeper, edit.value);
    if (after === undefined) return refusedEdit(edit, 'The path leads through something that is not there.');
    if (kind === 'input') input = after;
    else values.set(name, after);
  }
  const payloads: Payload[] = [];
  const keep = (value: Json): PayloadRef => {
    const payload = jsonPayload(value, deps.hash);
    payloads.push(payload);
    return refOf(payload);
  };
  const patch = [...values].map(
    ([name, value]): VariablePatch => ({
      op: Object.hasOwn(state.variables, name) ? 'replace' : 'add',
      path: pointerTo(name),
      value: keep(value),
    }),
  );
  return ok({ input: input === undefined ? undefined : keep(input), patch, payloads });
}

const refusedEdit = (edit: Edit, sentence: string) =>
  fail({ kind: 'edit-refused', path: edit.path, sentence } as const);

async function jsonAt(
  deps: Pick<UsecaseDeps, 'store'>,
  ref: PayloadRef | undefined,
): Promise<Json | undefined> {
  const payload = ref === undefined ? undefined : await deps.store.payloads.get(ref.sha256);
  return payload?.codec === 'json' ? (JSON.parse(new TextDecoder().decode(payload.body)) as Json) : undefined;
}
