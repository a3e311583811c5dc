import { type JsonValue, type ToolCall, tool } from '@/lib/sdk/index';
import type { Order, PolicyText } from './domain';
import { callService } from './services-client';

/** Shorter where tests want to see "asked too early" and "asked late enough" within seconds. */
const milliseconds = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const timeoutMs = milliseconds('RERAIL_DEMO_TIMEOUT_MS', 5_000);
const settlesWithinMs = milliseconds('RERAIL_DEMO_SETTLES_MS', 5_000);

const text = { type: 'string' } as const;
const object = (properties: Readonly<Record<string, JsonValue>>): JsonValue => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export interface RefundArgs {
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
}
export interface Refund extends RefundArgs {
  readonly id: string;
}
export interface MailArgs {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}
export interface SentMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
}

const findRefund = ({ idempotencyKey = '', signal }: ToolCall) =>
  callService<{ refund: Refund | null }>('PAYMENTS', `/refunds?key=${encodeURIComponent(idempotencyKey)}`, {
    signal,
  });
const findMail = ({ idempotencyKey = '', signal }: ToolCall) =>
  callService<{ mail: SentMail | null }>('MAIL', `/messages?key=${encodeURIComponent(idempotencyKey)}`, {
    signal,
  });

export const searchOrders = tool({
  effect: 'read',
  timeoutMs,
  retries: 2,
  input: object({ order_id: text }),
  run: (args: { readonly order_id: string }, call) =>
    callService<Order>('SHOP', `/orders/${encodeURIComponent(args.order_id)}`, { signal: call.signal }),
});

export const customerHistory = tool({
  effect: 'read',
  timeoutMs,
  retries: 2,
  input: object({ order_id: text }),
  run: (args: { readonly order_id: string }, call) =>
    callService<{ customerOf: string; refundsLastYear: number }>(
      'SHOP',
      `/customers/${encodeURIComponent(args.order_id)}/history`,
      { signal: call.signal },
    ),
});

export const policyLibrary = tool({
  effect: 'read',
  timeoutMs,
  retries: 2,
  input: object({ category: text }),
  run: (args: { readonly category: string }, call) =>
    callService<{ documents: readonly PolicyText[] }>(
      'SHOP',
      `/policies?category=${encodeURIComponent(args.category)}`,
      { signal: call.signal },
    ),
});

export const createRefund = tool({
  effect: 'external',
  keyed: true,
  timeoutMs,
  settlesWithinMs,
  retries: 0,
  input: object({ orderId: text, amountCents: { type: 'integer', minimum: 1 }, currency: text }),
  result: object({ id: text, orderId: text, amountCents: { type: 'integer' }, currency: text }),
  receipt: (refund: Refund) => refund.id,
  run: (args: RefundArgs, call) =>
    callService<Refund>(
      'PAYMENTS',
      '/refunds',
      { signal: call.signal, idempotencyKey: call.idempotencyKey },
      args,
    ),
  verify: async (_args: RefundArgs, call) => {
    const { refund } = await findRefund(call);
    return refund === null
      ? { outcome: 'did-not-happen' as const }
      : { outcome: 'happened' as const, result: refund, receipt: refund.id };
  },
});

export const sendMail = tool({
  effect: 'external',
  keyed: true,
  timeoutMs,
  settlesWithinMs,
  retries: 0,
  input: object({ to: text, subject: text, text }),
  result: object({ id: text, to: text, subject: text }),
  receipt: (mail: SentMail) => mail.id,
  run: (args: MailArgs, call) =>
    callService<SentMail>(
      'MAIL',
      '/messages',
      { signal: call.signal, idempotencyKey: call.idempotencyKey },
      args,
    ),
  verify: async (_args: MailArgs, call) => {
    const { mail } = await findMail(call);
    return mail === null
      ? { outcome: 'did-not-happen' as const }
      : { outcome: 'happened' as const, result: mail, receipt: mail.id };
  },
});

export const closeTicket = tool({
  effect: 'idempotent',
  keyed: true,
  timeoutMs,
  settlesWithinMs,
  retries: 0,
  input: object({ ticket: text }),
  run: (args: { readonly ticket: string }, call) =>
    callService<{ ticket: string; reference: string }>(
      'SHOP',
      `/tickets/${encodeURIComponent(args.ticket)}/close`,
      { signal: call.signal, idempotencyKey: call.idempotencyKey },
      args,
    ),
});
