import { type CommandId, epochMs, type RunId, type Seq, type Sha256 } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Plan } from '@/lib/core/planner/plan';
import { askAgainAt } from '@/lib/core/projections/ledger';
import type { Result } from '@/lib/core/shared/result';
import { sdkWorkerEngine } from '@/lib/engines/sdk-worker/sdk-worker';
import { hash } from '@/lib/sdk/hash';
import type { Claim, Held, JournalPort } from '@/lib/sdk/journal-port';
import { type Stored, storedText } from '@/lib/sdk/values';
import { memoryStore } from '@/lib/testing/memory-store';
import { appendEvents } from '@/lib/usecases/append-events';
import { claimRun } from '@/lib/usecases/claim-run';
import type { Command } from '@/lib/usecases/command';
import { createRun } from '@/lib/usecases/create-run';
import type { UsecaseDeps } from '@/lib/usecases/deps';
import { getState } from '@/lib/usecases/get-state';
import { giveCommand } from '@/lib/usecases/give-command';
import { heartbeat } from '@/lib/usecases/heartbeat';
import { judgeRun } from '@/lib/usecases/judge-leases';
import { listEffects } from '@/lib/usecases/list-effects';
import { listMessages } from '@/lib/usecases/list-messages';
import { makePlan } from '@/lib/usecases/make-plan';
import { putMachine } from '@/lib/usecases/put-machine';
import { recordEvidence } from '@/lib/usecases/record-evidence';
import { releaseLease } from '@/lib/usecases/release-lease';
import type { SimClock } from './sdk-sim';

/** An order that was accepted, with the plan that was shown for it; `runId`: the run that carries it out. */
export interface Ordered {
  readonly commandId: string;
  readonly runId: RunId;
  readonly plan: Plan;
}

/** A console in this process: its use-cases over the memory store, on a virtual clock. Network delays are drawn. */
export interface SimConsole {
  readonly deps: UsecaseDeps;
  readonly clock: SimClock;
  readonly port: JournalPort;
  /** The journal as it is now. */
  events(runId: string): Promise<readonly RunEvent[]>;
  status(runId: string): Promise<string>;
  command(
    runId: string,
    command: Omit<Command, 'commandId' | 'reason'> & { readonly mode: Command['mode'] },
  ): Promise<{ readonly runId: RunId }>;
  /** Plans and orders in one go; throws where the plan has obstacles. */
  order(
    runId: string,
    mode: 'resume' | 'rewind' | 'fork' | 'replay',
    from?: string,
    extra?: object,
  ): Promise<RunId>;
  payload(sha256: Sha256): Promise<unknown>;
  readonly orders: readonly Ordered[];
}

const LEASE_MS = 1_000;
/** A run that could not be claimed fails its test. */
const failing = {
  error: (about: object, message: string) => {
    throw new Error(message, { cause: about });
  },
};

/** The value, or the problem as an error. */
export function must<Value>(result: Result<Value, unknown>): Value {
  if (!result.ok) throw new Error(JSON.stringify(result.problem));
  return result.value;
}

export function simConsole(clock: SimClock): SimConsole {
  const store = memoryStore({ now: () => epochMs(clock.atConsole()) });
  let count = 0;
  const orders: Ordered[] = [];
  const deps: UsecaseDeps = {
    store,
    engine: sdkWorkerEngine(),
    ids: { next: (prefix) => `${prefix}_${++count}` },
    hash,
    leaseMs: LEASE_MS,
    judgedFrom: epochMs(0),
    actor: 'tester',
  };
  const id = (runId: string) => runId as RunId;
  const events = (runId: string) => store.events(id(runId), { limit: 1_000_000 });
  const port = portOver(deps, clock);
  return {
    deps,
    clock,
    port,
    events,
    orders,
    status: async (runId) => {
      const run = await store.run(id(runId));
      if (run === undefined) throw new Error(`no run ${runId}`);
      return (await judgeRun(deps, run)).state.status;
    },
    command: async (runId, command) =>
      must(
        await giveCommand(deps, {
          runId: id(runId),
          command: { ...command, commandId: `c${++count}` as CommandId, reason: '' } as Command,
        }),
      ),
    order: async (runId, mode, from = 'latest', extra = {}) => {
      const ask = { mode, from, edits: [], decisions: {}, options: {}, ...extra };
      const { plan } = must(await makePlan(deps, { runId: id(runId), ...ask }));
      const command = { ...ask, planDigest: plan.digest, commandId: `c${++count}` as CommandId, reason: '' };
      const given = must(await giveCommand(deps, { runId: id(runId), command: command as Command }));
      orders.push({ commandId: command.commandId, runId: given.runId, plan });
      return given.runId;
    },
    payload: async (sha256) =>
      JSON.parse(Buffer.from((await store.payloads.get(sha256))?.body ?? '').toString('utf8')) as unknown,
  };
}

const asPayload = ({ ref, text }: Stored) => ({ ...ref, body: Buffer.from(text) });

function portOver(deps: UsecaseDeps, clock: SimClock): JournalPort {
  const { store } = deps;
  /** A request on its way, and its answer on the way back. */
  const travel = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    await clock.delay(clock.int(1, 8));
    const value = await work();
    await clock.delay(clock.int(1, 8));
    return value;
  };
  const eventsOf = (runId: RunId, after: Seq, upTo: Seq) =>
    store.events(runId, { after, before: (upTo + 1) as Seq, limit: 1_000_000 });
  return {
    putMachine: async (digest, machine) => void must(await putMachine(deps, { digest, machine })),
    create: (ask) =>
      travel(async () => {
        if (ask.input !== undefined) await store.payloads.put([asPayload(ask.input)]);
        const input = ask.input === undefined ? undefined : { ref: ask.input.ref };
        const { answer } = must(
          await createRun(deps, {
            ...ask,
            runId: ask.runId as RunId,
            workerId: ask.workerId as never,
            input,
          }),
        );
        return { ...answer, epoch: answer.epoch as Held['epoch'] };
      }),
    claim: async (ask, signal) => {
      for (;;) {
        await clock.delay(40);
        if (signal.aborted) return undefined;
        const claimed = must(
          await claimRun(
            { ...deps, log: failing },
            { ...ask, workerId: ask.workerId as never, waitMs: 0 },
            signal,
          ),
        );
        if (claimed === undefined) continue;
        const { plan, ...rest } = claimed;
        return { ...rest, ...(plan === undefined ? {} : { plan: plan.plan }) } as unknown as Claim;
      }
    },
    append: (runId, batch) =>
      travel(async () => {
        const result = await appendEvents(deps, { runId, ...batch, payloads: batch.payloads.map(asPayload) });
        if (result.ok) return { ok: true as const, ...result.value };
        const { problem } = result;
        if (problem.kind === 'effect-exists' || problem.kind === 'unknown-payloads')
          return { ok: false as const, problem };
        if (problem.kind === 'stale-epoch' || problem.kind === 'not-held')
          return { ok: false as const, problem: { kind: 'stale-epoch' as const } };
        return { ok: false as const, problem: { kind: 'refused' as const, detail: JSON.stringify(problem) } };
      }),
    heartbeat: (held, seenSeq) =>
      travel(async () => {
        const result = await heartbeat(deps, { leaseId: held.leaseId as never, epoch: held.epoch, seenSeq });
        return result.ok ? result.value : undefined;
      }),
    release: (held, outcome) =>
      travel(
        async () =>
          void (await releaseLease(deps, { leaseId: held.leaseId as never, epoch: held.epoch, outcome })),
      ),
    evidence: (runId, evidence) =>
      travel(async () => {
        const { result, receipt, ...rest } = evidence;
        if (result !== undefined) await store.payloads.put([asPayload(result)]);
        must(
          await recordEvidence(deps, {
            runId,
            ...rest,
            receipt,
            result: result === undefined ? undefined : { ref: result.ref },
          }),
        );
      }),
    aboutRun: async (runId) => {
      const run = await store.run(runId);
      if (run === undefined) throw new Error(`no run ${runId}`);
      const { root, parent, state } = run;
      return { agent: state.agent, root, isFork: parent?.mode === 'fork', line: state.line };
    },
    state: async (runId, at) => {
      const { state } = must(await getState(deps, { runId, at }));
      return {
        seq: state.seq,
        visit: state.visit,
        input: state.input,
        variables: state.variables,
        messageCount: state.messages.count,
        visits: Object.fromEntries(Object.entries(state.visits).map(([name, visit]) => [name, visit.count])),
        apisDown: Object.keys(state.apis).filter((api) => state.apis[api]?.status === 'unavailable'),
      };
    },
    events: eventsOf,
    messages: async (runId, at) =>
      must(await listMessages(deps, { runId, at, before: undefined, limit: 1_000_000 })).items.map(
        ({ message }) => message,
      ),
    ledger: async (runId) =>
      must(await listEffects(deps, { runId, at: undefined })).map((effect) => ({
        ...effect,
        argsDigest: effect.intent.argsDigest,
        askAgainAt: askAgainAt(effect),
        input: effect.input,
        result: effect.result,
        receipt: effect.receipt,
      })),
    payload: async (ref) => {
      const stored = await store.payloads.get(ref.sha256);
      if (stored === undefined) throw new Error(`no payload ${ref.sha256}`);
      return storedText(Buffer.from(stored.body).toString('utf8')).text;
    },
  };
}
