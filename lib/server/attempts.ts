import { isIPv6 } from 'node:net';

/** So many wrong tokens, then one more each `refillMs`. */
interface Budget {
  readonly most: number;
  readonly refillMs: number;
}

/** Of one address. */
export const PER_ADDRESS: Budget = { most: 10, refillMs: 30_000 };
/** Of all of them: once it is used up, an address has one. */
export const OVERALL: Budget = { most: 100, refillMs: 1_000 };
const ONE: Budget = { most: 1, refillMs: 30_000 };

/** Addresses that are remembered; the one that failed longest ago is forgotten first. */
const MOST_ADDRESSES = 10_000;

/** Wrong tokens of late. `used` falls by one each `refillMs`. */
interface Tally {
  readonly used: number;
  readonly at: number;
}

/** Counts wrong tokens, by address and overall, and says how long the next try has to wait. Times in ms. */
export class Attempts {
  readonly #tallies = new Map<string, Tally>();
  #overall: Tally = { used: 0, at: 0 };

  /** Ms until this address may try again; 0 where it may now. */
  waitMs(address: string | undefined, now: number): number {
    const spent = waitFor(this.#overall, OVERALL, now) > 0;
    const tally = this.#tallies.get(keyOf(address));
    if (tally === undefined) return 0;
    return Math.max(waitFor(tally, PER_ADDRESS, now), spent ? waitFor(tally, ONE, now) : 0);
  }

  failed(address: string | undefined, now: number): void {
    const key = keyOf(address);
    const tally = oneMore(this.#tallies.get(key) ?? { used: 0, at: now }, PER_ADDRESS, now);
    this.#tallies.delete(key);
    this.#tallies.set(key, tally);
    this.#overall = oneMore(this.#overall, OVERALL, now);
    if (this.#tallies.size > MOST_ADDRESSES) {
      const [oldest] = this.#tallies.keys();
      if (oldest !== undefined) this.#tallies.delete(oldest);
    }
  }
}

const usedBy = ({ used, at }: Tally, { refillMs }: Budget, now: number) =>
  Math.max(0, used - (now - at) / refillMs);

const oneMore = (tally: Tally, budget: Budget, now: number): Tally => ({
  used: Math.min(budget.most, usedBy(tally, budget, now)) + 1,
  at: now,
});

/** Until there is room for a whole one. */
const waitFor = (tally: Tally, budget: Budget, now: number): number =>
  Math.max(0, Math.ceil((usedBy(tally, budget, now) - (budget.most - 1)) * budget.refillMs));

/** One household is one address: of IPv6 the first 64 bits. */
export function keyOf(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('%')[0]?.toLowerCase().split('::') ?? [];
  const parts = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const whole =
    tail === undefined
      ? parts
      : [...parts, ...Array(Math.max(0, 8 - parts.length - after.length)).fill('0'), ...after];
  return `${whole
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':')}::/64`;
}
