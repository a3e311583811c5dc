import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { costCell, costWords, stepTokens, tokensCell } from './cost-words';

type Cost = RunSummary['cost'];
const none: Cost = { inputTokens: null, outputTokens: null, costMicroUsd: null, unpriced: 0 };
const tokens = { inputTokens: 100, outputTokens: 38 };

const cases: readonly (readonly [Partial<Cost>, string, string, string | undefined])[] = [
  [{}, '–', '–', undefined],
  [{ unpriced: 2 }, '–', '–', 'tokens and cost not recorded'],
  [{ ...tokens, unpriced: 1 }, '138', '–', '138 tokens, cost not recorded'],
  [{ inputTokens: 100, unpriced: 1 }, '100 in', '–', '100 tokens in, cost not recorded'],
  [{ outputTokens: 38, unpriced: 1 }, '38 out', '–', '38 tokens out, cost not recorded'],
  [{ inputTokens: 0, outputTokens: 0, costMicroUsd: 0 }, '0', '$0.00', '0 tokens, $0.00'],
  [{ costMicroUsd: 120_000 }, '–', '$0.12', 'tokens not recorded, $0.12'],
  [{ ...tokens, costMicroUsd: 116_000 }, '138', '$0.12', '138 tokens, $0.12'],
  [{ ...tokens, costMicroUsd: 120_000, unpriced: 1 }, '138', '≥ $0.12', '138 tokens, ≥ $0.12'],
  // "At least" is rounded down: the sum itself is no more than what was told.
  [{ ...tokens, costMicroUsd: 119_999, unpriced: 1 }, '138', '≥ $0.11', '138 tokens, ≥ $0.11'],
  [{ ...tokens, costMicroUsd: 500 }, '138', '<$0.01', '138 tokens, <$0.01'],
  [{ ...tokens, costMicroUsd: 500, unpriced: 1 }, '138', '> $0.00', '138 tokens, > $0.00'],
  [{ ...tokens, costMicroUsd: 0, unpriced: 1 }, '138', '≥ $0.00', '138 tokens, ≥ $0.00'],
];

describe('cost in words', () => {
  it.each(cases)('says of %j only what was told', (change, inTokens, inDollars, sentence) => {
    const cost = { ...none, ...change };
    expect(tokensCell(cost).text).toBe(inTokens);
    expect(costCell(cost).text).toBe(inDollars);
    expect(costWords(cost)).toBe(sentence);
  });

  it('says in a row why a number is missing or not the whole', () => {
    expect(costCell(none).title).toBe('no step told a cost');
    expect(tokensCell(none).title).toBe('no step told its tokens');
    expect(costCell({ ...none, costMicroUsd: 1, unpriced: 1 }).title).toBe('1 model call told no cost');
    expect(costCell({ ...none, costMicroUsd: 1, unpriced: 3 }).title).toBe('3 model calls told no cost');
    expect(costCell({ ...none, costMicroUsd: 0 }).title).toBeUndefined();
    expect(tokensCell({ ...none, ...tokens }).title).toBeUndefined();
    expect(tokensCell({ ...none, inputTokens: 1 }).title).toBe('no step told its tokens out');
    expect(tokensCell({ ...none, outputTokens: 1 }).title).toBe('no step told its tokens in');
  });

  it.each([
    [null, undefined],
    [{}, undefined],
    [{ inputTokens: 0 }, '0 in'],
    [{ outputTokens: 38 }, '38 out'],
    [{ costMicroUsd: 120_000 }, undefined],
    [tokens, '100 in, 38 out'],
  ] as const)('gives of a step’s usage %j each side that is there', (usage, words) => {
    expect(stepTokens(usage)).toBe(words);
  });
});
