import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OrderLine, PolicyText } from './domain';
import { money, refundForLine, totalOf } from './refund-policy';

const policy: PolicyText = { category: 'books', returnDays: 30, text: 'Books, 30 days.' };
const line = (daysSinceDelivery: number): OrderLine => ({
  sku: 'BK-1',
  title: 'Knots',
  category: 'books',
  paidCents: 1_355,
  daysSinceDelivery,
});

describe('the refund policy', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('refunds a line in full up to the last day, and nothing after it', () => {
    expect(refundForLine(line(30), policy).amountCents).toBe(1_355);
    expect(refundForLine(line(31), policy).amountCents).toBe(0);
  });

  it('keeps a restocking fee back when it is strict, which changes an earlier result', () => {
    vi.stubEnv('RERAIL_DEMO_POLICY', 'strict');
    expect(refundForLine(line(30), policy).amountCents).toBe(1_219);
  });

  it('adds up cents without fractions', () => {
    expect(totalOf([refundForLine(line(1), policy), refundForLine(line(1), policy)])).toBe(2_710);
    expect(money(14_800, 'EUR')).toBe('148.00 EUR');
  });
});
