import { dollars, plural, short, whole } from '@/components/ui/format';
import type { RunSummary, StepRow } from '@/lib/client/api-types';

/* Tokens and cost in words: what steps told, and no number that none told. */

type Cost = RunSummary['cost'];

interface Cell {
  readonly text: string;
  /** Why a number is missing, or is a part. */
  readonly title?: string;
}

const CENT = 10_000;

/** `≥` where calls told no cost; rounded down then, so that it is never more than was told. */
function sumOf({ costMicroUsd, unpriced }: Cost): string | undefined {
  if (costMicroUsd === null) return undefined;
  if (unpriced === 0) return dollars(costMicroUsd);
  if (costMicroUsd > 0 && costMicroUsd < CENT) return '> $0.00';
  return `≥ ${dollars(Math.floor(costMicroUsd / CENT) * CENT)}`;
}

/** The number, and the side that it is of where only one was told. */
function tokensOf({ inputTokens, outputTokens }: Cost): readonly [n: string, side: string] | undefined {
  if (inputTokens === null) return outputTokens === null ? undefined : [short(outputTokens), ' out'];
  return outputTokens === null ? [short(inputTokens), ' in'] : [short(inputTokens + outputTokens), ''];
}

export function costCell(cost: Cost): Cell {
  const text = sumOf(cost);
  if (text === undefined) return { text: '–', title: 'no step told a cost' };
  return cost.unpriced === 0
    ? { text }
    : { text, title: `${plural(cost.unpriced, 'model call')} told no cost` };
}

export function tokensCell(cost: Cost): Cell {
  const tokens = tokensOf(cost);
  if (tokens === undefined) return { text: '–', title: 'no step told its tokens' };
  const text = tokens.join('');
  if (cost.inputTokens === null) return { text, title: 'no step told its tokens in' };
  return cost.outputTokens === null ? { text, title: 'no step told its tokens out' } : { text };
}

/** `138 tokens, cost not recorded`; undefined where nothing was told and no model was called. */
export function costWords(cost: Cost): string | undefined {
  const tokens = tokensOf(cost);
  const sum = sumOf(cost);
  if (tokens === undefined && sum === undefined)
    return cost.unpriced === 0 ? undefined : 'tokens and cost not recorded';
  const first = tokens === undefined ? 'tokens not recorded' : `${tokens[0]} tokens${tokens[1]}`;
  return `${first}, ${sum ?? 'cost not recorded'}`;
}

/** `100 in, 38 out`: each side that the step told. */
export function stepTokens(usage: StepRow['usage']): string | undefined {
  const { inputTokens, outputTokens } = usage ?? {};
  const parts = [
    inputTokens === undefined ? [] : `${whole(inputTokens)} in`,
    outputTokens === undefined ? [] : `${whole(outputTokens)} out`,
  ].flat();
  return parts.length === 0 ? undefined : parts.join(', ');
}
