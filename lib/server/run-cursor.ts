import type { RunCursor, RunPageAsk } from '@/lib/usecases/ports';

type Order = Pick<RunPageAsk, 'sort' | 'descending'>;

/** The cursor as the API gives it; it names the order that it is of. */
export const encodeRunCursor = ({ value, key }: RunCursor, { sort, descending }: Order): string =>
  Buffer.from(JSON.stringify([sort, descending, value, key])).toString('base64url');

/** `undefined` where no list in this order gave the text. */
export function decodeRunCursor(text: string, { sort, descending }: Order): RunCursor | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length !== 4) return undefined;
  const [ofSort, ofDescending, value, key]: readonly unknown[] = parsed;
  if (ofSort !== sort || ofDescending !== descending || !isWhole(key)) return undefined;
  const fits = sort === 'updated' || sort === 'created' ? isWhole(value) : typeof value === 'string';
  return fits ? { value: value as RunCursor['value'], key } : undefined;
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);
