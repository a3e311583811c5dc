import { until } from '../../lib/testing/api-client';
import { contractReview, refundAgent, releaseNotes, supportRouter } from './refund-agent';
import { type Stage, Teller } from './teller';

/** When the pictures are taken: the morning after, 02:27:40 UTC. */
export const NOW = Date.UTC(2026, 10, 29, 2, 27, 40);
const BEGAN = Date.UTC(2026, 10, 28, 23, 44, 30);
const APPROVED = Date.UTC(2026, 10, 29, 1, 58, 41);
const LAPSED = Date.UTC(2026, 10, 29, 1, 59, 42);

export const LEASE_MS = 30_000;
export const REFUND_RUN = 'run_01k7q4m2x9ht';
export const WAITING_RUN = 'run_01k7pyv0n3ed';
export const FAILED_RUN = 'run_01k7q9zy6n4j';
export const COMPLETED_RUN = 'run_01k7q48e2m5r';

const claim = {
  order: 'A-20417',
  item: 'espresso grinder, burr set',
  text: 'The grinder from my order arrived with a cracked hopper. I have added two photos. I would like my money back, please.',
};
const refund = {
  payment: 'pay_3kTq8VwZ',
  hold: 'hold_7Yq2Lm',
  amount_minor: 14_800,
  currency: 'EUR',
  reason: 'damaged_in_transit',
  order: 'A-20417',
};

/** Up to the question: two plans, two look-ups, the policy, and 148.00 EUR above what may be paid unasked. */
async function untilApproval(stage: Stage, runId: string, at: number, until?: number) {
  const run = await Teller.begin(stage, {
    runId,
    machine: refundAgent,
    workerId: 'eu-2',
    at,
    input: claim,
    tags: ['production', 'refunds'],
  });
  run.wait(20).enter('plan');
  run.message(
    'system',
    'You handle refund requests for the shop. Never promise a refund before the policy check. Ask for approval above the limit.',
  );
  run.message('user', claim.text);
  run.llm(
    'draft_plan',
    'Look the order up, then check it against the refund policy.',
    3_090,
    [2_052, 118],
    14_000,
  );
  run.pure('condition', 'choose_route', 'lookup');
  run.enter('lookup_order', 'lookup');
  run.readAgain(
    'search_orders',
    { text: 'espresso grinder' },
    { matches: ['A-20417', 'A-19920'] },
    10_000,
    900,
  );
  run.checkpoint('after search_orders');
  run.pure('compute', 'rank_matches', ['A-20417', 'A-19920'], 4);
  run.pure('condition', 'match_found', 'ambiguous');
  run.enter('plan', 'ambiguous').checkpoint('after entering plan');
  run.message('tool', 'Two orders match: A-20417 of 12 November, A-19920 of 3 August.');
  run.llm('draft_plan', 'The claim is about a recent delivery: take A-20417.', 2_790, [3_610, 96], 17_000);
  run.pure('condition', 'choose_route', 'lookup');
  run.enter('lookup_order', 'lookup');
  run.read('tool', 'search_orders', { order: 'A-20417' }, { matches: ['A-20417'] }, 641);
  run.checkpoint('after search_orders');
  run.read('tool', 'fetch_order', { order: 'A-20417' }, { order: 'A-20417', total_minor: 14_800 }, 412);
  run.set({ order: 'A-20417', item: claim.item });
  run.read('tool', 'fetch_payment', { order: 'A-20417' }, { payment: 'pay_3kTq8VwZ' }, 388);
  run.set({ payment: 'pay_3kTq8VwZ' });
  run.pure('condition', 'match_found', 'matched');
  run.enter('check_policy', 'matched');
  run.read(
    'retrieval',
    'retrieve_policy',
    { reason: 'damaged in transit' },
    { rule: 'R-12', text: 'Carrier damage, reported within 30 days: the whole price.' },
    301,
  );
  run.checkpoint('after retrieve_policy');
  run.message('tool', 'R-12: carrier damage, reported within 30 days: the whole price, no restocking fee.');
  run.llm(
    'judge_claim',
    'Eligible under R-12: carrier damage, reported within 30 days, photos show the defect. Refund the item price of 148.00 EUR, no restocking fee.',
    8_100,
    [6_904, 486],
    41_000,
  );
  run.set({ reason: 'damaged_in_transit', policy: 'R-12, carrier damage, 30 days' });
  run.pure('compute', 'refund_amount', 14_800);
  run.set({ amount_minor: 14_800, limit_minor: 10_000 });
  run.pure('condition', 'over_limit', 'over limit');
  run.checkpoint('after over_limit');
  run.enter('await_approval', 'over limit');
  run.effect(
    'request_approval',
    'idempotent',
    { case: 'C-5531', amount_minor: 14_800 },
    { case: 'C-5531' },
    'C-5531',
    222,
  );
  run.message(
    'tool',
    'Case C-5531 opened for the shift lead. Amount 148.00 EUR is above the limit of 100.00 EUR.',
  );
  const questionId = await run.ask(
    'approve_refund',
    { prompt: 'Refund 148.00 EUR for order A-20417? The limit is 100.00 EUR.', schema: { type: 'boolean' } },
    until,
  );
  return { run, questionId };
}

/** The run of the pictures: the money went out, or did not, and the worker was lost in that moment. */
async function tellRefund(stage: Stage, answer: (runId: string) => Promise<void>): Promise<void> {
  const { run: asked, questionId } = await untilApproval(stage, REFUND_RUN, BEGAN);
  await stage.setClock(APPROVED);
  await answer(REFUND_RUN);
  const run = await asked.again('eu-3', APPROVED);
  run.done(questionId, 0, true);
  run.set({ approval: 'approved, case C-5531' });
  run.message('user', 'Approved. Carrier claim will be filed from our side.');
  run.wait(27_000).enter('issue_refund', 'approved');
  run.pure('compute', 'build_refund', refund);
  run.set({ refund: { draft: refund, status: 'approved' } });
  run.checkpoint('after build_refund');
  run.effect(
    'reserve_funds',
    'external',
    { amount_minor: 14_800, currency: 'EUR' },
    { hold: 'hold_7Yq2Lm' },
    'hold_7Yq2Lm',
    318,
  );
  run.message('tool', 'Hold hold_7Yq2Lm placed for 148.00 EUR on the settlement account.');
  run.read('tool', 'check_balance', { account: 'settlement' }, { balance_minor: 912_450 }, 352);
  run.set({
    refund: { draft: refund, hold: 'hold_7Yq2Lm', balance_minor: 912_450, status: 'refund_intended' },
  });
  run.checkpoint('after check_balance', 'before-effect');
  run.wait(9).intend('create_refund', 'external', refund);
  await run.flush();
  await stage.setClock(LAPSED);
  await until(
    async () =>
      (await stage.api.get(`/api/v1/runs/${REFUND_RUN}/events?limit=1&order=desc`)).body.items[0].kind,
    (newest) => newest === 'run.interrupted',
  );
}

/** A run of a small agent that went through some of its states. */
async function tellSmall(
  stage: Stage,
  ask: {
    readonly runId: string;
    readonly machine: Parameters<typeof Teller.begin>[1]['machine'];
    readonly at: number;
    readonly visits: readonly string[];
    readonly end: 'completed' | 'failed' | 'waiting' | 'running';
    readonly tags?: readonly string[];
  },
): Promise<void> {
  const { runId, machine, at, visits, end, tags = ['production'] } = ask;
  const run = await Teller.begin(stage, {
    runId,
    machine,
    workerId: 'eu-1',
    at,
    input: { ticket: runId.slice(-4) },
    tags,
  });
  run.wait(40);
  for (const state of visits) {
    run.enter(state);
    run.message('user', `Go on with ${state}.`);
    run.llm(`do_${state}`, `${state} is done.`, 2_400, [1_120, 64], 6_000);
  }
  if (end === 'completed') return run.complete();
  if (end === 'waiting') {
    await run.ask('confirm', { prompt: 'May this go out?', schema: { type: 'boolean' } });
    return;
  }
  if (end === 'running') {
    run.start('do_more', 'tool', {}, { effect: 'read' });
    await run.flush();
    return;
  }
  const step = run.start('orders_api', 'tool', { page: 1 }, { effect: 'read', api: 'orders' });
  return run
    .failed(step, 30_000, 'unavailable', 'orders API unavailable')
    .fail('orders API unavailable', step);
}

const ago = (minutes: number) => NOW - minutes * 60_000;

/** Everything that the pictures show. Ends with the clock at `NOW`. */
export async function tellAll(stage: Stage, answer: (runId: string) => Promise<void>): Promise<void> {
  await tellRefund(stage, answer);
  await untilApproval(stage, WAITING_RUN, ago(540), NOW + 3 * 3_600_000);
  await tellSmall(stage, {
    runId: COMPLETED_RUN,
    machine: releaseNotes,
    at: ago(200),
    visits: ['collect', 'write', 'done'],
    end: 'completed',
  });
  await tellSmall(stage, {
    runId: FAILED_RUN,
    machine: supportRouter,
    at: ago(62),
    visits: ['classify'],
    end: 'failed',
  });
  const others = [
    ['run_01k7q9zx1a9e', supportRouter, 61, ['classify'], 'failed'],
    ['run_01k7q9zt8p2w', supportRouter, 60, ['classify', 'draft_reply'], 'failed'],
    ['run_01k7r0b1h6ta', supportRouter, 9, ['classify', 'draft_reply', 'review', 'done'], 'completed'],
    ['run_01k7r07q7w3n', contractReview, 18, ['read_document', 'extract_clauses'], 'waiting'],
    ['run_01k7q1c9k4ub', releaseNotes, 360, ['collect', 'write', 'done'], 'completed'],
    ['run_01k7pwr8m7cl', supportRouter, 780, ['classify', 'draft_reply', 'review', 'done'], 'completed'],
    ['run_01k7pw31g9at', releaseNotes, 840, ['collect', 'write', 'done'], 'completed'],
    ['run_01k7pub4e8dy', supportRouter, 1_020, ['classify', 'draft_reply', 'review', 'done'], 'completed'],
  ] as const;
  for (const [runId, machine, minutes, visits, end] of others)
    await tellSmall(stage, { runId, machine, at: ago(minutes), visits, end });
  await stage.setClock(NOW);
  await tellSmall(stage, {
    runId: 'run_01k7r1m0ze5b',
    machine: supportRouter,
    at: NOW - 12_000,
    visits: ['classify', 'draft_reply'],
    end: 'running',
  });
  await stage.setClock(NOW);
}
