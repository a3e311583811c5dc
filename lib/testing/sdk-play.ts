import type { RunId } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { askAgainAt } from '@/lib/core/projections/ledger';
import type { Agent } from '@/lib/sdk/api';
import type { AgentWorker } from '@/lib/sdk/worker';
import { makePlan } from '@/lib/usecases/make-plan';
import { must } from './sdk-console';
import { type Lab, sdkLab } from './sdk-lab';
import { comparePlans, type Predicted } from './sdk-predicted';
import { type AgentSpec, Downstream, randomAgent } from './sdk-random-agents';

/** Where a worker is dropped: at its `at`-th kill point; a zombie only loses its connection to the console. */
export interface Fault {
  readonly at: number;
  readonly kind?: 'crash' | 'zombie';
}

export interface Played {
  readonly lab: Lab;
  readonly down: Downstream;
  /** Kill points that were passed in all. */
  readonly points: number;
  readonly bad: readonly string[];
  /** Workers that were dropped. */
  readonly drops: number;
  /** Plans of all orders beside what ran. */
  readonly predicted: Predicted;
}

/**
 * One random agent through a list of faults, to its end. A person answers what is asked, decides truthfully what is in
 * doubt once it is settled, and resumes what stopped.
 */
export async function play(
  spec: AgentSpec,
  seed: number,
  faults: readonly Fault[],
  autoVerify: boolean,
): Promise<Played> {
  const lab = sdkLab(seed);
  const down = new Downstream(lab.clock);
  const agent = randomAgent(spec, down, autoVerify);
  const bad: string[] = [];
  let points = 0;
  let nextFault = 0;
  let drops = 0;
  let worker: AgentWorker | undefined;
  const all: AgentWorker[] = [];
  const fresh = async () => {
    let here = 0;
    let cutOff = false;
    const fault = faults[nextFault++];
    worker = await lab.worker([agent], {
      batchSize: seed % 3 === 0 ? 1 : 500,
      onPoint: (_point, self) => {
        points++;
        if (fault === undefined || ++here !== fault.at) return;
        drops++;
        if (fault.kind === 'zombie') cutOff = true;
        else self.kill();
        lab.clock.after(fault.kind === 'zombie' ? 1_200 : 5, () => void fresh());
      },
      isCutOff: () => cutOff,
    });
    all.push(worker);
  };
  await fresh();
  let ended = false;
  void worker?.start('random', { runId: 'r', input: { seed } });
  let looks = 0;
  const look = async () => {
    try {
      const status = await lab.status('r').catch(() => 'none');
      if (status === 'completed' || (status === 'failed' && looks > 400)) ended = true;
      else {
        await operator(lab, down, status);
        if (looks++ > 1_500) {
          bad.push(`stuck in ${status} ${refusals.at(-1)}\n${journalText(await lab.events('r'))}`);
          ended = true;
        }
      }
    } catch (error) {
      bad.push(String(error));
      ended = true;
    }
    if (!ended) lab.clock.after(60, () => void look());
  };
  lab.clock.after(30, () => void look());
  // A worker that died before the run was recorded: somebody starts it again.
  const startAgain = async () => {
    if ((await lab.status('r').catch(() => 'none')) === 'none')
      void worker?.start('random', { runId: 'r', input: { seed } });
  };
  lab.clock.after(400, () => void startAgain());
  if (!(await lab.clock.run(() => ended, 60_000))) bad.push('nothing happens any more');
  // Zombies and late answers come to their end.
  const settled = lab.clock.now() + 6_000;
  await lab.clock.run(() => lab.clock.now() >= settled);
  for (const one of all) one.kill();
  await check(lab, down, bad);
  if (bad.length === 0) await checkReplay(lab, down, agent, bad);
  if (bad.length === 0) await checkFork(lab, down, agent, bad);
  if (bad.length === 0) await checkRewind(lab, down, agent, bad);
  const predicted = await predictedIn(lab);
  bad.push(...predicted.misses);
  return { lab, down, points, bad, drops, predicted };
}

/** The plans of every order that was given, beside what ran. */
async function predictedIn(lab: Lab): Promise<Predicted> {
  const compared = { resume: 0, rewind: 0, fork: 0, replay: 0 };
  const misses: string[] = [];
  for (const { runId } of await lab.deps.store.lineage('r' as RunId)) {
    const events = await lab.events(runId);
    const of = comparePlans(lab.orders, events);
    for (const mode of ['resume', 'rewind', 'fork', 'replay'] as const) compared[mode] += of.compared[mode];
    misses.push(...of.misses.map((miss) => `${miss}\n${journalText(events)}`));
  }
  return { compared, misses };
}

const refusals: string[] = [];
/** What a person does next; `rewinds`: perhaps goes back instead of on where the run has stopped. */
async function operator(
  lab: Lab,
  down: Downstream,
  status: string,
  runId = 'r' as RunId,
  rewinds = false,
): Promise<void> {
  if (status === 'none') return;
  const run = await lab.deps.store.run(runId);
  if (run === undefined) return;
  for (const question of Object.values(run.state.questions)) {
    if (question.status === 'open' && lab.clock.random() < 0.6) {
      const { questionId, questionDigest } = question;
      await lab
        .command(runId, {
          mode: 'answer',
          questionId,
          questionDigest,
          value: `a${lab.clock.int(0, 999)}`,
        } as never)
        .catch(() => undefined);
    }
  }
  if (status === 'running' || status === 'queued') return;
  const doubts = (await lab.deps.store.effects('r' as RunId)).filter(
    (effect) => effect.status === 'in-doubt' && effect.runId === runId,
  );
  if (doubts.some((effect) => lab.clock.now() < askAgainAt(effect))) return;
  if (doubts.length > 0 && lab.clock.random() < 0.5) {
    // By probe…
    const [first] = doubts;
    await lab.command(runId, { mode: 'verify', stepKey: first?.stepKey } as never).catch(() => undefined);
    return;
  }
  for (const effect of doubts) {
    const truth = down.truth(effect.idempotencyKey);
    const decision = {
      intentSeq: effect.intentSeq,
      ...(truth === undefined
        ? { outcome: 'did-not-happen' }
        : { outcome: 'happened', result: { value: truth.result } }),
    };
    await lab.command(runId, { mode: 'decide', decisions: { [effect.stepKey]: decision } } as never);
  }
  if (
    status === 'interrupted' ||
    status === 'failed' ||
    (status === 'waiting' && !Object.values(run.state.questions).some((q) => q.status === 'open'))
  ) {
    if (rewinds && lab.clock.random() < 0.4 && (await rewind(lab)) !== undefined) return;
    await lab.order(runId, 'resume').catch((error: unknown) => {
      refusals.push(String(error).slice(0, 3000));
      if (!/held|nothing-to-do|not-possible|needs-decision/.test(String(error))) throw error;
    });
  }
}

/** The promises, after the fact. */
async function check(lab: Lab, down: Downstream, bad: string[]): Promise<void> {
  const events = await lab.events('r');
  const show = () => journalText(events);
  events.forEach((event, i) => {
    if (event.seq !== i + 1) bad.push('gap in seq');
  });
  if (events.some((event) => event.kind === 'divergence.found')) bad.push(`diverged\n${show()}`);
  if (!events.some((event) => event.kind === 'run.completed'))
    bad.push(`not completed: ${lab.warnings.join('; ')}\n${show()}`);
  const ledger = await lab.deps.store.effects('r' as RunId);
  const times = new Map<string, number>();
  for (const { key } of down.executed) times.set(key, (times.get(key) ?? 0) + 1);
  for (const [key, count] of times) {
    if (count > 1) bad.push(`executed ${count} times: ${key}\n${show()}`);
    const row = ledger.find((effect) => effect.idempotencyKey === key);
    if (row?.status !== 'confirmed')
      bad.push(`executed but ${row?.status ?? 'without intent'}: ${row?.stepKey}\n${show()}`);
    else if (row.result !== undefined && (await lab.payload(row.result.sha256)) !== down.truth(key)?.result)
      bad.push(`another result is recorded for ${row.stepKey}`);
  }
  for (const row of ledger)
    if (row.status === 'confirmed' && !times.has(row.idempotencyKey))
      bad.push(`confirmed but not executed: ${row.stepKey}\n${show()}`);
  bad.push(...down.violations);
  const refused = events.filter(
    (event) => event.by === 'worker' && event.kind === 'command.ended' && event.outcome === 'refused',
  );
  for (const event of refused) bad.push(`${JSON.stringify(event)}\n${show()}`);
  const outcomes = new Map<string, number>();
  for (const event of events)
    if (event.kind === 'step.completed') outcomes.set(event.stepKey, (outcomes.get(event.stepKey) ?? 0) + 1);
  for (const [key, count] of outcomes) if (count > 1) bad.push(`${count} results for ${key}\n${show()}`);
  const odd = lab.warnings.filter((warning) => !warning.includes('depends on which answer came first'));
  if (odd.length > 0) bad.push(`warned: ${odd[0]}\n${show()}`);
}

/** A replay touches nothing outside, answers in the order of the record, and comes to the same end. */
async function checkReplay(lab: Lab, down: Downstream, agent: Agent, bad: string[]): Promise<void> {
  const outside = [down.executed.length, down.reads];
  const worker = await lab.worker([agent]);
  const id = await lab.order('r', 'replay', 'start');
  let end = '';
  const look = async () => {
    const status = await lab.status(id);
    if (status === 'completed' || status === 'failed') end = status;
    else lab.clock.after(20, () => void look());
  };
  lab.clock.after(1, () => void look());
  await lab.clock.run(() => end !== '');
  worker.kill();
  const [record, replay] = [await lab.events('r'), await lab.events(id)];
  if (end !== 'completed')
    bad.push(`replay ${end}\n${journalText(record)}\n— replay —\n${journalText(replay)}`);
  if (outside[0] !== down.executed.length || outside[1] !== down.reads)
    bad.push('the replay touched the outside');
  const asked = (events: readonly RunEvent[]) =>
    events.flatMap((event) => {
      if (event.kind === 'state.entered' || event.kind === 'scope.left')
        return [event.kind === 'state.entered' ? event.key : event.scope];
      return event.kind === 'variables.patched' || event.kind === 'message.appended'
        ? [String(event.key)]
        : [];
    });
  if (JSON.stringify(asked(record)) !== JSON.stringify(asked(replay)))
    bad.push(`the replay went another way\n${journalText(record)}\n— replay —\n${journalText(replay)}`);
}

/** A fork from any checkpoint sends nothing that its lineage has sent, whatever it asks for beyond that point. */
async function checkFork(lab: Lab, down: Downstream, agent: Agent, bad: string[]): Promise<void> {
  const from = await somePoint(lab);
  if (from === undefined) return;
  await carryOut(lab, down, agent, `fork at ${from.seq}`, () => lab.order('r', 'fork', from.id), bad);
}

/** A rewind to any checkpoint, perhaps broken and followed by another one, sends nothing that it keeps. */
async function checkRewind(lab: Lab, down: Downstream, agent: Agent, bad: string[]): Promise<void> {
  await carryOut(lab, down, agent, 'rewind', () => rewind(lab), bad, true);
}

async function somePoint(lab: Lab) {
  const checkpoints = await lab.deps.store.checkpoints('r' as RunId);
  return checkpoints[lab.clock.int(0, checkpoints.length - 1)];
}

/** Back to some checkpoint, with every confirmed effect kept; `undefined` where that checkpoint cannot be gone to now. */
async function rewind(lab: Lab): Promise<RunId | undefined> {
  const runId = 'r' as RunId;
  const from = (await somePoint(lab))?.id ?? 'start';
  const ask = { mode: 'rewind', from, edits: [], decisions: {} } as const;
  const { plan } = must(await makePlan(lab.deps, { runId, ...ask, options: {} }));
  const keep = plan.leftBehind.effects.flatMap(({ fate, stepKey }) =>
    fate === 'needs-keep' ? [stepKey] : [],
  );
  if (plan.obstacles.some(({ kind }) => kind !== 'needs-keep')) return undefined;
  return lab.order('r', 'rewind', from, { options: { keep } });
}

/** An order that is given after the run's end, carried out to its own end or rest by workers of which one may be dropped. */
async function carryOut(
  lab: Lab,
  down: Downstream,
  agent: Agent,
  name: string,
  order: () => Promise<RunId | undefined>,
  bad: string[],
  rewinds = false,
): Promise<void> {
  const warned = lab.warnings.length;
  const workers: AgentWorker[] = [];
  const fresh = async (dropAt: number) => {
    let here = 0;
    const onPoint = (_point: string, self: AgentWorker) => {
      if (++here !== dropAt) return;
      self.kill();
      lab.clock.after(5, () => void fresh(0));
    };
    workers.push(await lab.worker([agent], { onPoint }));
  };
  await fresh(lab.clock.int(0, 25));
  const id = (await order()) ?? ('r' as RunId);
  let end = '';
  let looks = 0;
  const look = async () => {
    const status = await lab.status(id);
    // Beyond the point other answers may ask for a confirmed effect with other arguments: that is for a person.
    const rests = !['running', 'queued'].includes(status) && (await conflicts(lab, id));
    if (status === 'completed' || rests || looks++ > 1_000) end = status;
    else {
      await operator(lab, down, status, id, rewinds);
      lab.clock.after(60, () => void look());
    }
  };
  lab.clock.after(1, () => void look());
  await lab.clock.run(() => end !== '');
  for (const worker of workers) worker.kill();
  const events = await lab.events(id);
  const show = () => `${name}\n${journalText(events)}`;
  if (end !== 'completed' && !(await conflicts(lab, id))) bad.push(`it ended ${end}: ${show()}`);
  if (events.some((event) => event.kind === 'divergence.found')) bad.push(`it diverged: ${show()}`);
  const sent = new Set<string>();
  for (const { key } of down.executed) {
    if (sent.has(key)) bad.push(`it sent ${key} again: ${show()}`);
    sent.add(key);
  }
  bad.push(...down.violations);
  const odd = lab.warnings
    .slice(warned)
    .filter((text) => !text.includes('depends on which answer came first'));
  if (odd.length > 0) bad.push(`it warned: ${odd[0]}: ${show()}`);
}

async function conflicts(lab: Lab, id: RunId): Promise<boolean> {
  const state = (await lab.deps.store.run(id))?.state;
  return Object.values({ ...state?.open, ...state?.stopped }).some(({ waitsFor }) => waitsFor === 'conflict');
}

const journalText = (events: readonly RunEvent[]): string =>
  events.map((event) => `${event.seq} ${event.by} e${event.epoch} ${event.kind} ${brief(event)}`).join('\n');

const brief = (event: RunEvent): string => {
  const { runId: _r, seq: _s, at: _a, epoch: _e, by: _b, version: _v, kind: _k, ...body } = event;
  return JSON.stringify(body, (key, value: unknown) =>
    key === 'sha256' || key === 'inputDigest' || key === 'argsDigest' ? String(value).slice(0, 6) : value,
  ).slice(0, 330);
};
