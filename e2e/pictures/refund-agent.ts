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

const small = (agent: string, ...names: readonly string[]): Machine => ({
  agent,
  provenance: 'declared',
  initial: names[0] ?? 'start',
  states: Object.fromEntries(names.map((name, i) => [name, state([], ...names.slice(i + 1, i + 2))])),
  tools: {},
});

export const supportRouter = small('support-router', 'classify', 'draft_reply', 'review', 'done');
export const contractReview = small('contract-review', 'read_document', 'extract_clauses', 'done');
export const releaseNotes = small('release-notes', 'collect', 'write', 'done');
