import { epochMs } from '@/lib/core/events/ids';
import type { AuditCursor } from '@/lib/usecases/ports';

/** Names the list that it is of, so that another list's cursor is none. */
const LIST = 'audit';

export const encodeAuditCursor = ({ at, key }: AuditCursor): string =>
  Buffer.from(JSON.stringify([LIST, at, key])).toString('base64url');

/** `undefined` where the list did not give the text. */
export function decodeAuditCursor(text: string): AuditCursor | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length !== 3) return undefined;
  const [list, at, key]: readonly unknown[] = parsed;
  return list === LIST && isPlace(at) && isPlace(key) ? { at: epochMs(at), key } : undefined;
}

const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
