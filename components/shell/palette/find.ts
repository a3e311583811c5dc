/** What a search brought: the best first, and how many there are in all. */
export interface Found<Item> {
  readonly shown: readonly Item[];
  readonly total: number;
}

export interface Findable {
  /** What it is called. */
  readonly words: string;
  /** What else it is found by. */
  readonly more?: string | undefined;
}

const BETWEEN = /[\s/#_.:-]/;

/** 0 for a name that begins so, 1 where a word of it does, 2 where it is somewhere in it, 3 beside it; undefined for none. */
function rankOfPart(words: string, more: string, part: string): number | undefined {
  const at = words.indexOf(part);
  if (at === -1) return more.includes(part) ? 3 : undefined;
  if (at === 0) return 0;
  return BETWEEN.test(words[at - 1] ?? '') ? 1 : 2;
}

/** The worst of its parts; undefined where one is missing. */
function rankOf(words: string, more: string, asked: readonly string[]): number | undefined {
  let worst = 0;
  for (const part of asked) {
    const rank = rankOfPart(words, more, part);
    if (rank === undefined) return undefined;
    worst = Math.max(worst, rank);
  }
  return worst;
}

/** Names in lower case, made once for each list: a search at each key looks through tens of thousands. */
const lowered = new WeakMap<readonly Findable[], readonly (readonly [string, string])[]>();

/**
 * Items that have every part of what is looked for, in any case and order. The best `most`, in the order of `items`
 * among equals; one pass over `items`.
 */
export function search<Item extends Findable>(
  items: readonly Item[],
  find: string,
  most: number,
): Found<Item> {
  const asked = find.toLowerCase().split(/\s+/).filter(Boolean);
  if (asked.length === 0) return { shown: items.slice(0, most), total: items.length };
  let texts = lowered.get(items);
  if (texts === undefined) {
    texts = items.map(({ words, more = '' }) => [words.toLowerCase(), more.toLowerCase()] as const);
    lowered.set(items, texts);
  }
  const byRank: Item[][] = [[], [], [], []];
  let total = 0;
  for (const [n, [words, more]] of texts.entries()) {
    const rank = rankOf(words, more, asked);
    const item = items[n];
    if (rank === undefined || item === undefined) continue;
    total += 1;
    const same = byRank[rank] ?? [];
    if (same.length < most) same.push(item);
  }
  return { shown: byRank.flat().slice(0, most), total };
}
