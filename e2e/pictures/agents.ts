import type { Machine, MachineState, ToolDeclaration } from '../../lib/core/machine/machine';

const tool = (effect: ToolDeclaration['effect'], more: Partial<ToolDeclaration> = {}): ToolDeclaration => ({
  effect,
  keyed: effect === 'external' || effect === 'idempotent',
  verify: false,
  timeoutMs: 30_000,
  settlesWithinMs: 60_000,
  keyValidForMs: 86_400_000,
  retries: 1,
  ...more,
});
const state = (tools: readonly string[], ...transitions: readonly string[]): MachineState => ({
  tools,
  transitions,
  ...(transitions.length === 0 ? { final: true } : {}),
});

/** The agent whose run every picture is about, as it was declared. */
export const refundAgent: Machine = {
  agent: 'refund-agent',
  provenance: 'declared',
  initial: 'plan',
  states: {
    plan: state([], 'lookup_order', 'ask_customer'),
    ask_customer: state([], 'plan'),
    lookup_order: state(['search_orders', 'fetch_order', 'fetch_payment'], 'plan', 'check_policy'),
    check_policy: state(['retrieve_policy'], 'await_approval', 'issue_refund', 'decline'),
    await_approval: state(['request_approval'], 'issue_refund', 'escalate'),
    issue_refund: state(['reserve_funds', 'check_balance', 'create_refund'], 'notify_customer', 'escalate'),
    decline: state([], 'notify_customer'),
    escalate: state([]),
    notify_customer: state(['send_email', 'close_case'], 'done'),
    done: state([]),
  },
  tools: {
    search_orders: tool('read'),
    fetch_order: tool('read'),
    fetch_payment: tool('read'),
    retrieve_policy: tool('read'),
    request_approval: tool('idempotent'),
    reserve_funds: tool('external', { verify: true }),
    check_balance: tool('read'),
    create_refund: tool('external', {
      verify: true,
      description: 'Pays a refund out to the customer.',
      result: {
        type: 'object',
        properties: {
          refund: { type: 'string' },
          status: { type: 'string', enum: ['succeeded', 'pending'] },
        },
        required: ['refund', 'status'],
      },
    }),
    send_email: tool('external'),
    close_case: tool('idempotent'),
  },
  llms: { draft_plan: { model: 'atlas-large', timeoutMs: 60_000, retries: 2 } },
  limits: { steps: 40, costMicroUsd: 500_000 },
};

/** An agent without tools, that goes through its states one after the other. */
const chain = (agent: string, ...names: readonly string[]): Machine => ({
  agent,
  provenance: 'declared',
  initial: names[0] ?? 'start',
  states: Object.fromEntries(names.map((name, i) => [name, state([], ...names.slice(i + 1, i + 2))])),
  tools: {},
});

export const supportRouter = chain('support-router', 'classify', 'draft_reply', 'review', 'done');
export const contractReview = chain('contract-review', 'read_document', 'extract_clauses', 'done');
export const releaseNotes = chain('release-notes', 'collect', 'write', 'done');
export const incidentScribe = chain('incident-scribe', 'gather', 'timeline', 'publish', 'done');

const triage = chain('invoice-triage', 'read_invoice', 'extract_lines', 'book', 'done');
/** As the run's worker declares it, and as the next one does: the model changed, and a tool came. */
export const invoiceTriage: Machine = {
  ...triage,
  llms: { do_extract_lines: { model: 'atlas-large', timeoutMs: 60_000, retries: 2 } },
};
export const invoiceTriageNext: Machine = {
  ...triage,
  states: { ...triage.states, book: state(['post_entry'], 'done') },
  tools: { post_entry: tool('external', { verify: true }) },
  llms: { do_extract_lines: { model: 'atlas-large-2', timeoutMs: 60_000, retries: 2 } },
};

export const payoutReconciler: Machine = {
  agent: 'payout-reconciler',
  provenance: 'declared',
  initial: 'read_ledger',
  states: {
    read_ledger: state([], 'match_payouts_against_the_settlement_report'),
    match_payouts_against_the_settlement_report: state(['post_transfer', 'notify_treasury'], 'done'),
    done: state([]),
  },
  tools: { post_transfer: tool('external'), notify_treasury: tool('external', { verify: true }) },
};

const SHELVES = 80;
const shelf = (n: number) => `rewrite_shelf_${String(n).padStart(2, '0')}`;
/** A state for each shelf: more than a graph shows at once. */
export const catalogCleanup: Machine = {
  agent: 'catalog-cleanup',
  provenance: 'declared',
  initial: 'plan_shelves',
  states: {
    plan_shelves: state([], ...Array.from({ length: SHELVES }, (_, n) => shelf(n))),
    ...Object.fromEntries(
      Array.from({ length: SHELVES }, (_, n) => [shelf(n), state([], 'plan_shelves', 'publish')]),
    ),
    publish: state([]),
  },
  tools: {},
};
export const shelves = Array.from({ length: SHELVES }, (_, n) => shelf(n));
