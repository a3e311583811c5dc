import type { LineRefund, OrderLine, PolicyText } from './domain';

/** Above this a person approves, in cents. */
export const APPROVAL_LIMIT_CENTS = 15_000;
const RESTOCKING_SHARE = 0.1;

/**
 * What one line is worth under its policy. Pure. `RERAIL_DEMO_POLICY=strict` stands for a change of this code after a
 * run: a restocking fee is kept back, so that a replay of an older run stops here at the first difference.
 */
export function refundForLine(line: OrderLine, policy: PolicyText): LineRefund {
  if (line.daysSinceDelivery > policy.returnDays) {
    return { sku: line.sku, amountCents: 0, why: `delivered more than ${policy.returnDays} days ago` };
  }
  const fee =
    process.env['RERAIL_DEMO_POLICY'] === 'strict' ? Math.round(line.paidCents * RESTOCKING_SHARE) : 0;
  return { sku: line.sku, amountCents: line.paidCents - fee, why: policy.text };
}

export const totalOf = (refunds: readonly LineRefund[]): number =>
  refunds.reduce((sum, refund) => sum + refund.amountCents, 0);

/** `148.00 EUR`. */
export const money = (cents: number, currency: string): string => `${(cents / 100).toFixed(2)} ${currency}`;
