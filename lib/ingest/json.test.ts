import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutations } from '@/lib/testing/importer-contract';
import { parseJson } from './json';

const placeOf = (text: string): string | undefined => {
  const parsed = parseJson(text, 256, '$');
  return parsed.ok ? undefined : parsed.problem.path;
};

describe('text that is no JSON', () => {
  it.each([
    ['', 0],
    ['  ', 2],
    ['nonsense', 0],
    ['{"a":1', 6],
    ['{"a":1}}', 7],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['{,}', 1],
    ['{"a":}', 5],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[1}', 2],
    ['[01]', 2],
    ['[1.]', 2],
    ['[-]', 1],
    ['[tru]', 1],
    ['[nulll]', 5],
    ['["a\nb"]', 3],
    ['["a\\"b\\x"]', 6],
    ['["\\u12"]', 2],
    ['["a', 3],
    ['[[],{}] [', 8],
    ['{"a":[{"b":"c"},{"d":e}]}', 21],
  ])('%j is refused at character %d', (text, at) => {
    expect(placeOf(text)).toBe(`$, character ${at}`);
  });

  it('is refused where the parser says it, wherever it says it', () => {
    const file = readFileSync(`${import.meta.dirname}/langgraph/fixtures/window.json`);
    let compared = 0;
    for (const bytes of mutations(file, 2_000, 7)) {
      const parsed = parseJson(new TextDecoder().decode(bytes), 256, '$');
      if (parsed.ok || parsed.problem.kind === 'limit') continue;
      const { path, message } = parsed.problem;
      const said = /^not JSON: Expected .* at position (\d+)/.exec(message)?.[1];
      if (said === undefined) continue;
      compared += 1;
      expect([message, path]).toEqual([message, `$, character ${said}`]);
    }
    expect(compared).toBeGreaterThan(100);
  });
});
