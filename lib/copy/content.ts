import type { Sha256 } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { CopyLine, CopyNotice } from '@/lib/server/copy-line';
import type { CopiedRun } from '@/lib/usecases/copy-run';
import { payloadBody } from '@/lib/wire/v1/export';
import type { Content } from './copied-store';

export interface Copied extends Content {
  readonly notice: CopyNotice;
  readonly leftOut: ReadonlyMap<string, PayloadRef>;
}

/** A copy out of its base64 text: gzip, then NDJSON. Throws on anything else, as a file that was cut short is. */
export async function readCopy(base64: string): Promise<Copied> {
  let head: Extract<CopyLine, { readonly copy: CopiedRun }> | undefined;
  const events: RunEvent[] = [];
  const payloads = new Map<Sha256, Payload>();
  const leftOut = new Map<string, PayloadRef>();
  for await (const some of lines(unpacked(base64))) {
    for (const text of some) {
      const line = JSON.parse(text) as CopyLine;
      if ('event' in line) events.push(line.event);
      else if ('payload' in line) {
        const { sha256, codec } = line.payload;
        const body = payloadBody(line.payload);
        payloads.set(sha256, { sha256, codec, bytes: body.byteLength, body });
      } else if ('leftOut' in line) leftOut.set(line.leftOut.sha256, line.leftOut);
      else head = line;
    }
  }
  if (head === undefined || events.length !== head.copy.run.headSeq)
    throw new Error('The file was cut short: it does not hold the run to its end.');
  return { notice: head.notice, copy: head.copy, events, payloads, leftOut };
}

/** Whole groups of four, so that each piece decodes by itself. */
const PIECE = 4 * 64 * 1024;

/** The packed text as a stream of the text that was packed; nothing is fetched. */
export function unpacked(base64: string): ReadableStream<string> {
  let at = 0;
  const bytes = new ReadableStream<BufferSource>({
    pull(controller) {
      if (at >= base64.length) return controller.close();
      controller.enqueue(Uint8Array.from(atob(base64.slice(at, at + PIECE)), (char) => char.charCodeAt(0)));
      at += PIECE;
    },
  });
  return bytes.pipeThrough(new DecompressionStream('gzip')).pipeThrough(new TextDecoderStream());
}

/** Whole lines, as many at a time as have come. */
async function* lines(texts: ReadableStream<string>): AsyncGenerator<readonly string[]> {
  const reader = texts.getReader();
  let open: string[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const [first = '', ...others] = part.value.split('\n');
    open.push(first);
    if (others.length === 0) continue;
    yield [open.join(''), ...others.slice(0, -1)];
    open = [others.at(-1) ?? ''];
  }
  const last = open.join('');
  if (last !== '') yield [last];
}
