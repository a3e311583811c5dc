import type { Machine } from '../../lib/core/machine/machine';
import { historyOf } from '../fixtures/histories';
import {
  catalogCleanup,
  contractReview,
  incidentScribe,
  invoiceTriage,
  payoutReconciler,
  refundAgent,
  releaseNotes,
  shelves,
  supportRouter,
} from './agents';
import {
  COMPLETED_RUN,
  NOW,
  REFUND_RUN,
  tellPaid,
  tellRefund,
  untilApproval,
  untilEvent,
  WAITING_RUN,
} from './stories';
import { hosts, must, type Stage, Teller } from './teller';

/* The other runs of the console: one for each way that a run can stand. */

export const FAILED_RUN = 'run_01k7q9zy6n4j';
export const LOST_RUN = 'run_01k7qyt2w8sd';
export const DOUBTS_RUN = 'run_01k7q4jw0c7p';
export const PAUSED_RUN = 'run_01k7q2h7d0yv';
export const CANCELLED_RUN = 'run_01k7pzn6y2qk';
export const RUNNING_RUN = 'run_01k7r1m0ze5b';
/** Failed, and its worker is about to be replaced by one that declares another machine. */
export const OUTDATED_RUN = 'run_01k7q49s3v8d';
/** Longer than is drawn event by event, of a machine that is larger than is drawn whole. */
export const LONG_RUN = 'run_01k7pyt7w1xk';
export const MINED_RUN = 'support-thread-7:1f0a0001-0000-6000-8000-000000000001';

interface Ask {
  readonly runId: string;
  readonly machine: Machine;
  readonly at: number;
  readonly visits: readonly string[];
  readonly tags?: readonly string[];
}

/** A run that went through some of its states. */
async function through(
  stage: Stage,
  { runId, machine, at, visits, tags = ['production'] }: Ask,
): Promise<Teller> {
  const input = { ticket: runId.slice(-4) };
  const run = await Teller.begin(stage, { runId, machine, workerId: 'eu-1', at, input, tags });
  run.wait(40);
  for (const state of visits) {
    run.enter(state);
    run.message('user', `Go on with ${state}.`);
    run.llm(`do_${state}`, `${state} is done.`, 2_400, [1_120, 64], 6_000);
  }
  return run;
}

const ago = (minutes: number) => NOW - minutes * 60_000;
const whole = (machine: Machine): readonly string[] => Object.keys(machine.states);

async function tellCompleted(stage: Stage, runId: string, machine: Machine, minutes: number): Promise<void> {
  const run = await through(stage, { runId, machine, at: ago(minutes), visits: whole(machine) });
  await run.complete();
}

async function tellFailed(stage: Stage, ask: Ask, api: string): Promise<void> {
  const run = await through(stage, ask);
  const message = `${api} API unavailable`;
  const step = run.start(`${api}_api`, 'tool', { page: 1 }, { effect: 'read', api });
  await run.failed(step, 30_000, 'unavailable', message).fail(message, step);
}

/** Its worker was lost while it asked a model: nothing is in doubt. */
async function tellLost(stage: Stage): Promise<void> {
  const at = ago(41);
  const run = await through(stage, {
    runId: LOST_RUN,
    machine: incidentScribe,
    at,
    visits: ['gather', 'timeline'],
  });
  run.checkpoint('after do_timeline').enter('publish');
  run.start('write_summary', 'llm', { messages: [] }, { effect: 'read', api: 'atlas', model: 'atlas-large' });
  await run.flush();
  await stage.setClock(run.at + 35_000);
  await untilEvent(stage, LOST_RUN, 'run.interrupted');
}

/** Two payments are in doubt; of one, the provider cannot be asked. */
async function tellDoubts(stage: Stage): Promise<void> {
  const run = await through(stage, {
    runId: DOUBTS_RUN,
    machine: payoutReconciler,
    at: ago(125),
    visits: whole(payoutReconciler).slice(0, 2),
  });
  run.checkpoint(
    'after do_match_payouts_against_the_settlement_report of the second quarter, before anything was sent',
    'before-effect',
  );
  run.intend('post_transfer', 'external', { payout: 'po_88', amount_minor: 1_204_500, currency: 'EUR' });
  run.wait(4).intend('notify_treasury', 'external', { payout: 'po_88' });
  await run.flush();
  await stage.setClock(run.at + 35_000);
  await untilEvent(stage, DOUBTS_RUN, 'run.interrupted');
}

async function tellPaused(stage: Stage): Promise<void> {
  const at = ago(300);
  const run = await through(stage, {
    runId: PAUSED_RUN,
    machine: contractReview,
    at,
    visits: ['read_document'],
  });
  await run.flush();
  const reason = 'The customer sent a newer version of the contract.';
  const commandId = `pause ${PAUSED_RUN}`;
  await must(stage.ada.command(PAUSED_RUN, { commandId, mode: 'pause', reason }));
  run.wait(900).say({ kind: 'run.paused' }).say({ kind: 'command.ended', commandId, outcome: 'done' });
  await run.flush();
  await run.release('paused');
}

/** Cancelled after its worker had let it go. */
async function tellCancelled(stage: Stage): Promise<void> {
  const at = ago(480);
  const run = await through(stage, {
    runId: CANCELLED_RUN,
    machine: contractReview,
    at,
    visits: ['read_document'],
  });
  await run.ask('confirm', { prompt: 'The document has 412 pages. Go on?', schema: { type: 'boolean' } });
  const reason = 'Wrong document.';
  await must(
    stage.ada.command(CANCELLED_RUN, { commandId: `cancel ${CANCELLED_RUN}`, mode: 'cancel', reason }),
  );
}

async function tellLong(stage: Stage): Promise<void> {
  const input = { shop: 'outlet' };
  const run = await Teller.begin(stage, {
    runId: LONG_RUN,
    machine: catalogCleanup,
    workerId: 'eu-1',
    at: ago(600),
    input,
    tags: ['production', 'nightly'],
  });
  run.wait(20).enter('plan_shelves');
  for (const [n, shelf] of shelves.slice(0, 44).entries()) {
    run.enter(shelf);
    run.read('tool', 'read_titles', { shelf }, { titles: 40 + n }, 180 + 40 * (n % 7));
    run.llm('rewrite_titles', `${shelf} is rewritten.`, 1_900 + 900 * (n % 5), [3_400, 900], 21_000);
    if (n < 43) run.enter('plan_shelves').checkpoint(`after ${shelf}`);
  }
  await run.enter('publish').complete();
}

/** Ada orders a replay of what was paid, for which a worker has just asked for work; the new run's id. */
async function replayPaid(stage: Stage, at: number): Promise<string> {
  await stage.setClock(at);
  await hosts(stage, 'eu-1', refundAgent);
  const ask = { mode: 'replay', from: 'start' };
  const plan = await must<{ readonly digest: string }>(stage.ada.plan(COMPLETED_RUN, ask));
  const order = { ...ask, commandId: `replay ${at}`, planDigest: plan.digest };
  const reason = 'Would the new policy pay less?';
  return (await must<{ readonly runId: string }>(stage.ada.command(COMPLETED_RUN, { ...order, reason })))
    .runId;
}

/** The worker's code asks for something else than the record has. */
async function tellDiverged(stage: Stage): Promise<string> {
  const at = ago(6);
  const runId = await replayPaid(stage, at);
  const run = await Teller.take(stage, { runId, machine: refundAgent, workerId: 'eu-1', at: at + 300 });
  run.wait(20).enter('plan');
  run.reused('draft_plan', 'llm', 'read', {}, { finish_reason: 'stop' });
  run.wait(4).pure('condition', 'choose_route', 'lookup');
  run.enter('lookup_order', 'lookup');
  run.reused(
    'search_orders',
    'tool',
    'read',
    { text: 'espresso grinder' },
    { matches: ['A-20417', 'A-19920'] },
  );
  const sentence = 'The result of rank_matches differs from the record.';
  run.wait(3).say({
    kind: 'divergence.found',
    stepKey: `${run.scope}/rank_matches#1`,
    what: 'result',
    sentence,
    recorded: run.put(['A-20417', 'A-19920']),
    asked: run.put(['A-19920', 'A-20417']),
  });
  run.say({ kind: 'run.failed', cause: 'diverged', error: { type: 'Diverged', message: sentence } });
  run.say({ kind: 'command.ended', commandId: `replay ${at}`, outcome: 'refused', detail: sentence });
  await run.flush();
  await run.release('done');
  return runId;
}

/** Under way as the pictures are taken. */
async function tellReplaying(stage: Stage): Promise<void> {
  const at = NOW - 9_000;
  const runId = await replayPaid(stage, at);
  const run = await Teller.take(stage, { runId, machine: refundAgent, workerId: 'eu-1', at: at + 300 });
  run.wait(20).enter('plan');
  run.reused('draft_plan', 'llm', 'read', {}, { finish_reason: 'stop' });
  run.wait(4).pure('condition', 'choose_route', 'lookup');
  run.enter('lookup_order', 'lookup');
  await run.flush();
}

/** What got its name from the console. */
export interface Town {
  readonly divergedRun: string;
  readonly queuedRun: string;
  /** Paths of the links to a run: one that is open until next week, and one that expired. */
  readonly shared: string;
  readonly expired: string;
}

/** Everything that the pictures show. Ends with the clock at `NOW`. */
export async function tellAll(stage: Stage): Promise<Town> {
  await tellRefund(stage);
  await tellPaid(stage, ago(200));
  await untilApproval(stage, WAITING_RUN, ago(540), NOW + 3 * 3_600_000);
  await tellLost(stage);
  await tellDoubts(stage);
  await tellPaused(stage);
  await tellCancelled(stage);
  await tellLong(stage);
  const failed = [
    [FAILED_RUN, supportRouter, 62, ['classify']],
    ['run_01k7q9zx1a9e', supportRouter, 61, ['classify']],
    ['run_01k7q9zt8p2w', supportRouter, 60, ['classify', 'draft_reply']],
    [OUTDATED_RUN, invoiceTriage, 180, ['read_invoice', 'extract_lines']],
  ] as const;
  for (const [runId, machine, minutes, visits] of failed)
    await tellFailed(stage, { runId, machine, at: ago(minutes), visits }, 'orders');
  const completed = [
    ['run_01k7r0b1h6ta', supportRouter, 9],
    ['run_01k7q1c9k4ub', releaseNotes, 360],
    ['run_01k7q0v3r8zf', incidentScribe, 420],
    ['run_01k7pz4h8q2c', invoiceTriage, 490],
    ['run_01k7pwr8m7cl', supportRouter, 780],
    ['run_01k7pw31g9at', releaseNotes, 840],
    ['run_01k7pub4e8dy', supportRouter, 1_020],
    ['run_01k7ptq2z5mw', incidentScribe, 1_100],
    ['run_01k7psd7n3hv', supportRouter, 1_180],
    ['run_01k7pr6x1b0g', releaseNotes, 1_260],
  ] as const;
  for (const [runId, machine, minutes] of completed) await tellCompleted(stage, runId, machine, minutes);
  const asks = await through(stage, {
    runId: 'run_01k7r07q7w3n',
    machine: contractReview,
    at: ago(18),
    visits: ['read_document', 'extract_clauses'],
  });
  await asks.ask('confirm', { prompt: 'May this go out?', schema: { type: 'boolean' } });
  await stage.setClock(ago(700));
  for (const [name, thread] of [
    ['forks-of-forks.json', 'support-thread-7'],
    ['parallel.json', 'briefing-12'],
  ] as const)
    await must(stage.api.post('/api/v1/traces', historyOf(name, thread)));
  const link = async (expiresIn: string) =>
    (
      await must<{ readonly path: string }>(
        stage.ada.post(`/api/v1/runs/${REFUND_RUN}/shares`, { expiresIn }),
      )
    ).path;
  await stage.setClock(ago(25));
  const expired = await link('10m');
  const shared = await link('7d');
  const divergedRun = await tellDiverged(stage);
  const running = await through(stage, {
    runId: RUNNING_RUN,
    machine: supportRouter,
    at: NOW - 12_000,
    visits: ['classify', 'draft_reply'],
  });
  running.start('do_more', 'tool', {}, { effect: 'read' });
  await running.flush();
  await tellReplaying(stage);
  // Nobody has taken it up yet.
  const queuedRun = await replayPaid(stage, NOW - 2_000);
  await hosts(stage, 'eu-4', invoiceTriage);
  await stage.setClock(NOW);
  return { divergedRun, queuedRun, shared, expired };
}
