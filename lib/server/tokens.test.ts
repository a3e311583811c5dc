import { timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf, grantWith, parseTokens, TokenBook } from './tokens';

const GOOD = 'a-token-nobody-guesses';
const hex = (token: string) => digestOf(token).toString('hex');
const file = (...entries: readonly unknown[]) => JSON.stringify(entries);

describe('a file of tokens', () => {
  it('gives each entry its role, by token or by digest', () => {
    const parsed = parseTokens(
      file(
        { name: 'ci', role: 'operator', token: GOOD },
        { name: 'wall', role: 'viewer', sha256: hex('another-token-nobody-guesses').toUpperCase() },
      ),
    );
    if (!parsed.ok) throw new Error(parsed.problem);
    expect(parsed.value.map(({ name, role }) => [name, role])).toEqual([
      ['ci', 'operator'],
      ['wall', 'viewer'],
    ]);
    expect(grantWith(parsed.value, digestOf(GOOD))?.name).toBe('ci');
    expect(grantWith(parsed.value, digestOf('another-token-nobody-guesses'))?.name).toBe('wall');
    expect(grantWith(parsed.value, digestOf(`${GOOD}x`))).toBeUndefined();
  });

  it.each([
    ['{', 'it is not JSON'],
    ['{}', 'it is not a list'],
    ['[]', 'it holds no token'],
    [file({ name: 'a', role: 'admin' }), 'entry 1 ("a"): token'],
    [file({ name: 'a', role: 'root', token: GOOD }), 'entry 1 ("a"): role'],
    [file({ name: 'a', role: 'admin', token: 'short' }), 'entry 1 ("a"): token needs at least 16'],
    [
      file({ name: 'a', role: 'admin', token: 'has a space in the middle' }),
      'entry 1 ("a"): token holds visible',
    ],
    [file({ name: 'a', role: 'admin', sha256: 'abc' }), 'entry 1 ("a"): sha256 is 64'],
    [file({ name: 'a', role: 'admin', token: GOOD, sha256: hex(GOOD) }), 'entry 1 ("a"): Unrecognized'],
    [file({ name: 'a', role: 'admin', token: GOOD, roles: 1 }), 'entry 1 ("a"): Unrecognized'],
    [file({ name: '', role: 'admin', token: GOOD }), 'entry 1 (""): name'],
    [file({ name: 'RERAIL_TOKEN', role: 'admin', token: GOOD }), 'the name is taken'],
    [
      file({ name: 'a', role: 'admin', token: GOOD }, { name: 'A', role: 'viewer', sha256: hex('x') }),
      'entry 2 ("A"): the name is taken',
    ],
    [
      file({ name: 'a', role: 'admin', token: GOOD }, { name: 'b', role: 'viewer', sha256: hex(GOOD) }),
      'entry 2 ("b"): another entry has the same token',
    ],
    [file(7), 'entry 1:'],
  ])('is refused with the entry that is wrong: %s', (text, says) => {
    const parsed = parseTokens(text);
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(says) });
    expect(JSON.stringify(parsed)).not.toContain(GOOD);
  });
});

it('is found by comparing digests in constant time, with every token that there is', () => {
  const grants = ['one', 'two', 'three'].map((name) => ({
    name,
    role: 'viewer' as const,
    digest: digestOf(name),
  }));
  const compared = vi.fn(timingSafeEqual);
  for (const [token, name] of [
    ['one', 'one'],
    ['three', 'three'],
    ['four', undefined],
  ] as const) {
    compared.mockClear();
    expect(grantWith(grants, digestOf(token), compared)?.name).toBe(name);
    expect(compared).toHaveBeenCalledTimes(grants.length);
  }
  // And that is what the console compares by.
  expect(grantWith.toString()).toContain('timingSafeEqual');
});

describe('the book of tokens', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rerail-tokens-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Times of files are coarse: each content gets its own. */
  let written = 0;
  const write = (name: string, text: string, mode = 0o600) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    utimesSync(path, ++written, written);
    return path;
  };

  it('reads the file again once it has changed, and keeps what it had where that is broken', () => {
    const said: string[] = [];
    const path = write('reload.json', file({ name: 'old', role: 'viewer', token: GOOD }));
    const book = new TokenBook({ token: 'the-token-of-the-environment', file: path }, (line) =>
      said.push(line),
    );
    const names = (now: number) => book.grants(now).map(({ name }) => name);
    expect(names(0)).toEqual(['RERAIL_TOKEN', 'old']);
    write('reload.json', file({ name: 'new', role: 'viewer', token: GOOD }));
    expect(names(999)).toEqual(['RERAIL_TOKEN', 'old']);
    expect(names(1_000)).toEqual(['RERAIL_TOKEN', 'new']);
    write('reload.json', '[{');
    expect(names(2_000)).toEqual(['RERAIL_TOKEN', 'new']);
    expect(names(3_000)).toEqual(['RERAIL_TOKEN', 'new']);
    expect(said).toEqual([expect.stringContaining('not JSON; the tokens read before stay in force')]);
    rmSync(path);
    expect(names(4_000)).toEqual(['RERAIL_TOKEN', 'new']);
    expect(said).toHaveLength(2);
    write('reload.json', file({ name: 'back', role: 'viewer', token: GOOD }));
    expect(names(5_000)).toEqual(['RERAIL_TOKEN', 'back']);
  });

  it('does not begin without its file', () => {
    const missing = join(folder, 'missing.json');
    expect(() => new TokenBook({ token: undefined, file: missing }, () => undefined)).toThrow(
      `RERAIL_TOKENS_FILE ${missing}: it cannot be read (ENOENT).`,
    );
  });

  it.skipIf(process.platform === 'win32')(
    'refuses a file that others may write, and warns of tokens that they may read',
    () => {
      const entry = file({ name: 'a', role: 'admin', token: GOOD });
      expect(
        () => new TokenBook({ token: undefined, file: write('open.json', entry, 0o666) }, () => undefined),
      ).toThrow('others may write it');
      const said: string[] = [];
      const read = (name: string, text: string, mode: number) =>
        new TokenBook({ token: undefined, file: write(name, text, mode) }, (line) => said.push(line));
      read('digests.json', file({ name: 'a', role: 'admin', sha256: hex(GOOD) }), 0o644);
      expect(said).toEqual([]);
      read('readable.json', entry, 0o644);
      expect(said).toEqual([expect.stringContaining('others on this machine may read')]);
      expect(said.join()).not.toContain(GOOD);
    },
  );
});
