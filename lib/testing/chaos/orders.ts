import { assertDefined } from '@/lib/core/shared/assert';
import type { RunSummary } from '@/lib/wire/v1/runs';
import type { KillAt } from './console-process';
import { until } from './processes';
import { CALM_MS, type Stage, type Worker } from './stage';

/* Every mode of the commands: what its runs come to before it is ordered, the order, and how its run gets home from there. */

/**
 * Time-out of tools, long enough for every run of a sweep to come to its refund, which is withheld, before the first one
 * loses patience. Declared, so that who takes over has to have the same.
 */
export const WITHHELD_MS = 10_000;
/** Longer than a sweep. */
const HELD_MS = 120_000;
const TWO_LINES = 'I would like to return ORD-1003.';
const ABOVE_LIMIT = 'I would like to return ORD-1002.';

type Body = Readonly<Record<string, unknown>>;

type Prepare = (stage: Stage, names: readonly string[]) => Promise<Worker | undefined>;

interface Mode {
  /** Begins a run under each name, and resolves once the order can be given; with the worker where that lives on. */
  readonly prepare: Prepare;
  /** Without its commandId. */
  readonly order: (stage: Stage, runId: string) => Promise<Body>;
  /** What the run needs, once the order was accepted, before it goes to its end like any other. */
  readonly goOn?: (stage: Stage, runId: string) => Promise<void>;
  /** Where the console dies in turn; without it in the order's transaction and after its commit. */
  readonly sweep?: readonly KillAt[];
}

/** Before and after the first statement, before and after the second … */
export const sweepOf = (kills: number): readonly KillAt[] =>
  Array.from({ length: kills }, (_, at) => ({
    statement: (at >> 1) + 1,
    when: at % 2 === 0 ? 'before' : 'after',
  }));

/** With everything of the order but its answer written; before the commit; after it, before anybody was told. */
export const aroundCommit = (order: string): readonly KillAt[] => [
  { statement: 1, when: 'before', of: { order, text: 'INSERT INTO "Answer"' } },
  { statement: 1, when: 'before', of: { order, text: 'COMMIT' } },
  { statement: 1, when: 'after', of: { order, text: 'COMMIT' } },
];

/** Whether an order must, or must not, be there after a kill; undefined where only the statement was counted. */
export const mustBeThere = ({ of, when }: KillAt): boolean | undefined =>
  of === undefined ? undefined : of.text === 'COMMIT' && when === 'after';

const desk = (worker: Worker, as: string, request: string) =>
  worker.begin(`${as}-desk`, as, { ticket: as, request });

const status = (stage: Stage, runId: string, wanted: RunSummary['status']) =>
  until(`${runId} is ${wanted}`, async () => (await stage.operator.run(runId)).status === wanted, 60_000);

/** One worker dies with all of them, their refunds made and not recorded. */
const inDoubt: Prepare = async (stage, names) => {
  const made = async () =>
    (await stage.ledger()).filter(({ operation }) => operation === 'refund.create').length;
  const before = await made();
  await stage.trouble('payments', '/refunds', 'hold', names.length);
  const victim = await stage.worker('desk', names, undefined, WITHHELD_MS);
  for (const as of names) await desk(victim, as, TWO_LINES);
  await until('the refunds are made', async () => (await made()) - before === names.length, 60_000);
  await victim.process.kill();
  await Promise.all(names.map((as) => stage.operator.interrupted(as)));
  return undefined;
};

const completed: Prepare = async (stage, names) => {
  const worker = await stage.worker('desk', names, undefined, CALM_MS);
  for (const as of names) await desk(worker, as, TWO_LINES);
  await Promise.all(names.map((as) => stage.operator.bringHome(as)));
  return worker;
};

const asking: Prepare = async (stage, names) => {
  const worker = await stage.worker('desk', names, undefined, CALM_MS);
  for (const as of names) await desk(worker, as, ABOVE_LIMIT);
  await Promise.all(names.map((as) => status(stage, as, 'waiting')));
  return worker;
};

const LOOK_UP = '/orders/ORD-1003';
/** Held by a living worker, in a call that is withheld. */
const running: Prepare = async (stage, names) => {
  await stage.trouble('shop', LOOK_UP, 'hold', names.length);
  const worker = await stage.worker('desk', names, undefined, HELD_MS);
  for (const as of names) await desk(worker, as, TWO_LINES);
  const isCalled = async (as: string) =>
    (await stage.operator.events(as)).some(
      (event) => event.kind === 'step.started' && event.name === 'search_orders',
    );
  await Promise.all(names.map((as) => until(`${as} looks its order up`, () => isCalled(as))));
  return worker;
};

const planned = async (stage: Stage, runId: string, ask: Body): Promise<Body> => {
  const { status: code, body } = await stage.operator.plan(runId, ask);
  if (code !== 200) throw new Error(`no plan for ${runId}: ${JSON.stringify(body)}`);
  return { ...ask, planDigest: (body as { readonly digest: string }).digest };
};

async function refundOf(stage: Stage, runId: string) {
  const rows = await stage.operator.effects(runId);
  return assertDefined(
    rows.find(({ name }) => name === 'create_refund'),
    'its refund was sent',
  );
}

/** The refund in doubt decided by hand. */
async function decided(stage: Stage, runId: string): Promise<Body> {
  const { stepKey, intentSeq } = await refundOf(stage, runId);
  const value = { id: `re-${runId}`, orderId: 'ORD-1003', amountCents: 14_800, currency: 'EUR' };
  return { [stepKey]: { intentSeq, outcome: 'happened', result: { value } } };
}

async function firstCheckpoint(stage: Stage, runId: string): Promise<string> {
  const { items } = await stage.operator.get<{ readonly items: readonly { readonly id: string }[] }>(
    `/runs/${runId}/checkpoints`,
  );
  return assertDefined(items[0], 'the desk saves checkpoints').id;
}

/** Back to the first checkpoint; the refund, decided by hand, is kept in force. */
const rewound = async (stage: Stage, runId: string): Promise<Body> =>
  planned(stage, runId, {
    mode: 'rewind',
    from: await firstCheckpoint(stage, runId),
    decisions: await decided(stage, runId),
    options: { keep: [(await refundOf(stage, runId)).stepKey] },
  });

/** A cancelled run goes on where it is taken back to a point. */
async function takeBack(stage: Stage, runId: string): Promise<void> {
  await status(stage, runId, 'cancelled');
  const given = await stage.operator.command(runId, await rewound(stage, runId));
  if (given.status !== 202) throw new Error(`${runId} is not taken back: ${JSON.stringify(given.body)}`);
}

/** The call answers, the pause is carried out, and a person lets the run go on. */
async function letGoOn(stage: Stage, runId: string): Promise<void> {
  await stage.release('shop', LOOK_UP);
  await status(stage, runId, 'paused');
  if ((await stage.operator.resume(runId)) === undefined)
    throw new Error(`${runId} is not resumed: ${stage.operator.lastRefusal}`);
}

export const modes: Readonly<Record<string, Mode>> = {
  resume: {
    prepare: inDoubt,
    order: async (stage, runId) =>
      planned(stage, runId, { mode: 'resume', from: 'latest', decisions: await decided(stage, runId) }),
    // An order has as many statements as it has; beyond them there is nothing to kill.
    sweep: sweepOf(24),
  },
  rewind: { prepare: inDoubt, order: rewound },
  fork: {
    prepare: completed,
    order: async (stage, runId) =>
      planned(stage, runId, { mode: 'fork', from: await firstCheckpoint(stage, runId) }),
  },
  replay: {
    prepare: completed,
    order: (stage, runId) => planned(stage, runId, { mode: 'replay', from: 'start' }),
  },
  verify: {
    prepare: inDoubt,
    order: async (stage, runId) => ({ mode: 'verify', stepKey: (await refundOf(stage, runId)).stepKey }),
  },
  decide: {
    prepare: inDoubt,
    order: async (stage, runId) => ({ mode: 'decide', decisions: await decided(stage, runId) }),
  },
  answer: {
    prepare: asking,
    order: async (stage, runId) => {
      const [question] = (await stage.operator.run(runId)).questions;
      const { questionId, questionDigest } = question ?? {};
      return { mode: 'answer', questionId, questionDigest, value: { approved: true } };
    },
  },
  pause: { prepare: running, order: async () => ({ mode: 'pause' }), goOn: letGoOn },
  cancel: { prepare: inDoubt, order: async () => ({ mode: 'cancel' }), goOn: takeBack },
};
