import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { secretFrom } from './session-cookie';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rerail-secret-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('is made once, in a folder that need not be there, for its owner alone', () => {
  const path = join(folder, 'data', 'session.key');
  const secret = secretFrom(path);
  expect(secret.byteLength).toBe(32);
  expect(secretFrom(path).equals(secret)).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(`${secret.toString('hex')}\n`);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(secretFrom(join(folder, 'other', 'session.key')).equals(secret)).toBe(false);
});

it('is refused where it is too short or no hex, with what to do and without its content', () => {
  const path = join(folder, 'short.key');
  for (const text of ['', 'abcd', 'not hex at all '.repeat(10)]) {
    writeFileSync(path, text);
    chmodSync(path, 0o600);
    expect(() => secretFrom(path)).toThrow(/short\.key is no secret of 32 bytes in hex; delete it/);
  }
});
