import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { assertNever } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { CopyLimits, CopyPart } from '@/lib/usecases/copy-run';
import { inFile } from '@/lib/wire/v1/export';
import type { CopyLine, CopyNotice } from './copy-line';

/** A larger value, or what would make all of them larger, is named as left out. */
export const copyLimits: CopyLimits = { payloadBytes: 8 * 1024 * 1024, totalBytes: 128 * 1024 * 1024 };

/** The page of a copy was not built: `npm start` and `npm test` do. */
export interface NotBuilt {
  readonly kind: 'copy-not-built';
  readonly detail: string;
}

/** The page of a copy, around title and data. */
export interface CopyPage {
  readonly head: string;
  readonly body: string;
  readonly tail: string;
}

const TITLE = '<!--rerail:title-->';
const DATA = '<!--rerail:data-->';

/** The page that `lib/copy/build.mjs` wrote; read for each copy, which is rare. */
export async function copyPage(root: string): Promise<Result<CopyPage, NotBuilt>> {
  const path = resolve(root, '.rerail/copy/page.html');
  let page: string;
  try {
    page = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return fail({ kind: 'copy-not-built', detail: `${path} is not there: npm start builds it.` });
    throw error;
  }
  const [title, data] = [page.indexOf(TITLE), page.indexOf(DATA)];
  if (title === -1 || data < title) throw new Error(`${path} is no page of a copy`);
  return ok({
    head: page.slice(0, title),
    body: page.slice(title + TITLE.length, data),
    tail: page.slice(data + DATA.length),
  });
}

/** A run's parts as one HTML file, read as the client takes it. Its data is base64, which no parser of HTML sees anything in. */
export function copyFile(
  page: CopyPage,
  title: string,
  notice: CopyNotice,
  parts: AsyncIterable<CopyPart>,
): ReadableStream<Uint8Array> {
  const gzip = Readable.from(pieces(notice, parts)).pipe(createGzip());
  const text = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${page.head}${escaped(title)}${page.body}`);
    yield* base64(gzip);
    yield Buffer.from(page.tail);
  };
  return Readable.toWeb(Readable.from(text())) as ReadableStream<Uint8Array>;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (char) => entities[char] ?? '');

/** So many characters of lines are packed together. */
const PIECE_LENGTH = 65_536;

async function* pieces(notice: CopyNotice, parts: AsyncIterable<CopyPart>): AsyncGenerator<Buffer> {
  let piece = '';
  for await (const part of parts) {
    const line = `${JSON.stringify(lineOf(notice, part))}\n`;
    if (piece !== '' && piece.length + line.length > PIECE_LENGTH) {
      yield Buffer.from(piece);
      piece = '';
    }
    piece += line;
  }
  yield Buffer.from(piece);
}

function lineOf(notice: CopyNotice, part: CopyPart): CopyLine {
  switch (part.kind) {
    case 'copy':
      return { notice, copy: part.copy };
    case 'payload':
      return { payload: inFile(part.payload) };
    case 'left-out':
      return { leftOut: part.payload };
    case 'event':
      return { event: part.event };
    default:
      return assertNever(part, 'part of a copy');
  }
}

/** Three bytes are four characters: what is over waits for the next piece. */
async function* base64(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let over = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = over.length === 0 ? chunk : Buffer.concat([over, chunk]);
    const whole = all.length - (all.length % 3);
    yield Buffer.from(all.toString('base64', 0, whole), 'latin1');
    over = Buffer.from(all.subarray(whole));
  }
  yield Buffer.from(over.toString('base64'), 'latin1');
}
