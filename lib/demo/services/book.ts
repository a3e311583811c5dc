import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServiceRequest } from './serve';

/** One line of `ledger.jsonl`: a request that a downstream service got, whatever it answered. `at` is ISO 8601. */
export interface LedgerLine {
  readonly at: string;
  readonly service: 'payments' | 'mail';
  readonly operation: 'refund.create' | 'refund.find' | 'mail.send' | 'mail.find';
  readonly idempotencyKey: string | null;
  readonly deduplicated: boolean;
}

const demoFolder = (): string => {
  const given = process.env['RERAIL_DEMO_DIR'];
  if (given === undefined) throw new Error('RERAIL_DEMO_DIR is not set');
  return given;
};

/** Appends to the ledger that all services share: one write of one line, so that lines never mix. */
function writeLedger(line: Omit<LedgerLine, 'at'>): void {
  const path = join(demoFolder(), 'ledger.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
}

/** Which key a request is about: the one that it sends, or the one that it asks after. */
export const keyOf = ({ method, url, idempotencyKey }: ServiceRequest): string | null =>
  method === 'POST' ? idempotencyKey : url.searchParams.get('key');

/** What a service has done, by idempotency key; it survives the service. */
export interface Book<Entry> {
  find(key: string): Entry | undefined;
  add(key: string, entry: Entry): void;
}

/** Writes a request about the book's entries to the ledger, before it is answered: a POST `makes` one, else it `finds` one. */
export function writeRequest(
  request: ServiceRequest,
  book: Pick<Book<unknown>, 'find'>,
  service: LedgerLine['service'],
  { makes, finds }: Readonly<Record<'makes' | 'finds', LedgerLine['operation']>>,
): void {
  const isPost = request.method === 'POST';
  const key = keyOf(request);
  writeLedger({
    service,
    operation: isPost ? makes : finds,
    idempotencyKey: key,
    deduplicated: isPost && key !== null && book.find(key) !== undefined,
  });
}

/** Opens a service's book in the demo's folder. A line cut off by a kill at the end is taken out: it was never answered. */
export function openBook<Entry>(name: string): Book<Entry> {
  const path = join(demoFolder(), `${name}.jsonl`);
  const entries = new Map<string, Entry>();
  if (existsSync(path)) {
    const text = readFileSync(path);
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(path, whole.length);
    for (const line of whole.toString('utf8').split('\n').slice(0, -1)) {
      const { key, entry } = JSON.parse(line) as { key: string; entry: Entry };
      entries.set(key, entry);
    }
  }
  mkdirSync(dirname(path), { recursive: true });
  return {
    find: (key) => entries.get(key),
    add: (key, entry) => {
      entries.set(key, entry);
      appendFileSync(path, `${JSON.stringify({ key, entry })}\n`);
    },
  };
}
