import { describe, expect, it } from 'vitest';
import { Attempts, keyOf } from './attempts';

const ME = '203.0.113.7';
const fails = (attempts: Attempts, address: string | undefined, times: number, now: number) => {
  for (let i = 0; i < times; i++) attempts.failed(address, now);
};

describe('wrong tokens', () => {
  it('are ten from one address, then one each half minute', () => {
    const attempts = new Attempts();
    fails(attempts, ME, 9, 0);
    expect(attempts.waitMs(ME, 0)).toBe(0);
    fails(attempts, ME, 1, 0);
    expect(attempts.waitMs(ME, 0)).toBe(30_000);
    expect(attempts.waitMs(ME, 29_999)).toBe(1);
    expect(attempts.waitMs(ME, 30_000)).toBe(0);
    fails(attempts, ME, 1, 30_000);
    expect(attempts.waitMs(ME, 30_000)).toBe(30_000);
    expect(attempts.waitMs(ME, 330_000)).toBe(0);
    expect(attempts.waitMs('203.0.113.8', 0)).toBe(0);
  });

  it('of many addresses leave each new one its first try', () => {
    const attempts = new Attempts();
    for (let i = 0; i < 100; i++) fails(attempts, `198.51.100.${i}`, 1, 0);
    expect(attempts.waitMs('198.51.100.5', 0)).toBe(30_000);
    expect(attempts.waitMs(ME, 0)).toBe(0);
    fails(attempts, ME, 1, 0);
    expect(attempts.waitMs(ME, 0)).toBe(30_000);
    // By then the overall count has room again.
    expect(attempts.waitMs('198.51.100.5', 2_000)).toBe(0);
  });

  it('of any number of addresses take a bounded room', () => {
    const attempts = new Attempts();
    fails(attempts, ME, 10, 0);
    for (let i = 0; i < 10_001; i++) fails(attempts, `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 1, 0);
    expect(attempts.waitMs('10.0.39.16', 1_000_000)).toBe(0);
    // The one that failed longest ago is the one that was forgotten.
    expect(attempts.waitMs(ME, 300_000)).toBe(0);
  });
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'unknown'],
])('counts %s as %s', (address, key) => {
  expect(keyOf(address)).toBe(key);
});
