import { until } from '../../lib/testing/api-client';
import { refundAgent } from './agents';
import { type Stage, Teller } from './teller';

/** When the pictures are taken: the morning after, 02:27:40 UTC. */
export const NOW = Date.UTC(2026, 10, 29, 2, 27, 40);
const BEGAN = Date.UTC(2026, 10, 28, 23, 44, 30);
const APPROVED = Date.UTC(2026, 10, 29, 1, 58, 41);
const LAPSED = Date.UTC(2026, 10, 29, 1, 59, 42);

export const LEASE_MS = 30_000;
export const REFUND_RUN = 'run_01k7q4m2x9ht';
export const WAITING_RUN = 'run_01k7pyv0n3ed';
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
export async function untilApproval(stage: Stage, runId: string, at: number, until?: number) {
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
    {
      prompt: 'Refund 148.00 EUR for order A-20417? The limit is 100.00 EUR.',
      schema: {
        type: 'object',
        properties: {
          approved: { type: 'boolean' },
          note: { type: 'string', title: 'Note to the customer' },
        },
        required: ['approved'],
      },
      claim: { rule: 'R-12', reason: 'damaged in transit', photos: 2 },
    },
    until,
  );
  return { run, questionId };
}

/** The run of the pictures: the money went out, or did not, and the worker was lost in that moment. */
export async function tellRefund(stage: Stage): Promise<void> {
  const run = await untilPayment(stage, REFUND_RUN, BEGAN, APPROVED);
  run.wait(9).intend('create_refund', 'external', refund);
  await run.flush();
  await stage.setClock(LAPSED);
  await untilEvent(stage, REFUND_RUN, 'run.interrupted');
}

/** The same, to its end: the money went out, and the customer was told. */
export async function tellPaid(stage: Stage, at: number): Promise<void> {
  const run = await untilPayment(stage, COMPLETED_RUN, at, at + 300_000);
  run.effect('create_refund', 'external', refund, { refund: 're_1Pz8', status: 'succeeded' }, 're_1Pz8', 840);
  run.set({ refund: { draft: refund, id: 're_1Pz8', status: 'succeeded' } });
  run.enter('notify_customer', 'refunded');
  run.effect('send_email', 'external', { to: 'customer of A-20417' }, { id: 'em_44' }, 'em_44', 512);
  run.effect('close_case', 'idempotent', { case: 'C-5531' }, { case: 'C-5531' }, 'C-5531', 95);
  await run.enter('done').complete();
}

/** Approved by a person; what is to be paid is reserved, and nothing has been paid yet. */
async function untilPayment(stage: Stage, runId: string, at: number, approved: number): Promise<Teller> {
  const { run: asked, questionId } = await untilApproval(stage, runId, at);
  await stage.setClock(approved);
  await approve(stage, runId);
  const run = await asked.again('eu-3', approved);
  run.done(questionId, 0, { approved: true });
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
  return run;
}

async function approve({ api, ada }: Stage, runId: string): Promise<void> {
  const { body } = await api.get(`/api/v1/runs/${runId}/questions`);
  const { questionId, questionDigest } = body.items[0];
  const answered = await ada.command(runId, {
    commandId: `approve ${runId}`,
    mode: 'answer',
    reason: 'The photos show it.',
    questionId,
    questionDigest,
    value: { approved: true },
  });
  if (answered.status !== 202) throw new Error(`not answered: ${JSON.stringify(answered.body)}`);
}

/** The console notices by itself, at the time that its clock shows. */
export async function untilEvent({ api }: Stage, runId: string, kind: string): Promise<void> {
  await until(
    async () => (await api.get(`/api/v1/runs/${runId}/events?limit=1&order=desc`)).body.items[0].kind,
    (newest) => newest === kind,
  );
}
