import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stamped } from './stamp.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rerail-stamps-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Whether the step worked. */
async function step(name, digest, work = () => {}) {
  let worked = false;
  await stamped({ name, digest, folder }, async () => {
    worked = true;
    work();
  });
  return worked;
}
const breakOff = () => {
  throw new Error('cut short');
};

it('passes by where nothing changed since the step ended well', async () => {
  expect(await step('same', 'A')).toBe(true);
  expect(await step('same', 'A')).toBe(false);
  expect(await step('same', 'B')).toBe(true);
});

it('works again at the old inputs after a step at other inputs was cut short: what it left behind is of those', async () => {
  await step('cut', 'A');
  await expect(step('cut', 'B', breakOff)).rejects.toThrow('cut short');
  expect(await step('cut', 'A')).toBe(true);
});

it('works where what the step makes is gone', async () => {
  await step('gone', 'A');
  let worked = false;
  await stamped({ name: 'gone', digest: 'A', makes: ['not/there'], folder }, async () => {
    worked = true;
  });
  expect(worked).toBe(true);
});
