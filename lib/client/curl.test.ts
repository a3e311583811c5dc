import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { apiUrl, runPath } from './api';
import { curlLine, curlToFile, shellWord } from './curl';

/** What curl would be given, by a real shell in which `curl` says its arguments, each ended by a line of its own. */
const argumentsOf = (line: string): readonly string[] =>
  execFileSync('/bin/sh', ['-c', `curl() { for a in "$@"; do printf '%s\\037' "$a"; done; }\n${line}`], {
    env: { ...process.env, RERAIL_TOKEN: 'of "the" $shell `only`' },
    encoding: 'utf8',
  })
    .split('\u001f')
    .slice(0, -1);

const awkward = [
  "it's",
  '$(touch /tmp/never)',
  '`touch /tmp/never`',
  '"; touch /tmp/never; "',
  "'; touch /tmp/never; '",
  'a b\tc\nd',
  '-o/etc/passwd',
  '$HOME ~ * ? [a] {a,b} !x # & | < > \\',
  '%41/..//é 😀',
];

it('gives curl the very address, by a real shell, whatever the id of the run is', () => {
  for (const id of awkward) {
    const url = `http://127.0.0.1:3000${apiUrl(runPath(id, '/state'), { at: 7 })}`;
    expect(argumentsOf(curlLine(url, { token: false }))).toEqual(['-sS', url]);
    expect(decodeURIComponent(new URL(url).pathname)).toBe(`/api/v1/runs/${id}/state`);
  }
});

it('names the token by a variable of the shell, and holds none', () => {
  const line = curlLine('http://127.0.0.1:3000/api/v1/runs', { token: true });
  expect(line).toContain('$RERAIL_TOKEN');
  expect(argumentsOf(line)).toEqual([
    '-sS',
    '-H',
    'authorization: Bearer of "the" $shell `only`',
    'http://127.0.0.1:3000/api/v1/runs',
  ]);
});

it('names a file as it is called', () => {
  for (const name of awkward.filter((text) => !text.startsWith('-')))
    expect(argumentsOf(curlToFile('http://h/a?b=c', name, { token: false }))).toEqual([
      '-sS',
      'http://h/a?b=c',
      '-o',
      name,
    ]);
});

it('makes one word of any text but U+0000, which no shell can hold', () => {
  expect(shellWord('a\0b')).toBeUndefined();
  const text = fc
    .string({ unit: 'binary', maxLength: 40 })
    .filter((one) => !one.includes('\0') && !one.includes('\u001f') && one.isWellFormed());
  fc.assert(
    fc.property(text, (one) => {
      expect(argumentsOf(`curl ${shellWord(one)}`)).toEqual([one]);
    }),
    { numRuns: 60, seed: 1 },
  );
});
