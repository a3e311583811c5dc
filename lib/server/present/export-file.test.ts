import { expect, it } from 'vitest';
import { epochMs, type RunId, seq } from '@/lib/core/events/ids';
import { newRun } from '@/lib/core/journal/new-run';
import { hash } from '@/lib/testing/api-client';
import { payload } from '@/lib/testing/store-rows';
import type { RunPart } from '@/lib/usecases/export-run';
import { BLOCK_LINES, chainBlock } from '@/lib/wire/v1/export';
import { exportPieces } from './export-file';

const run = newRun({ runId: 'r' as RunId, agent: 'desk', createdAt: epochMs(0) });

async function* partsOf(count: number, part: (n: number) => RunPart): AsyncGenerator<RunPart> {
  yield { kind: 'run', run, machine: undefined, headDigest: hash('') };
  for (let n = 1; n <= count; n += 1) yield part(n);
}
const event = (n: number): RunPart => ({
  kind: 'event',
  event: {
    kind: 'run.queued',
    reason: 'created',
    runId: run.runId,
    seq: seq(n),
    at: epochMs(0),
    epoch: run.epoch,
    by: 'console',
    version: 1,
  },
});

it('holds one line at a time, however many large payloads a run has', async () => {
  const large = payload(JSON.stringify('x'.repeat(1_000_000)));
  let largest = 0;
  let total = 0;
  for await (const piece of exportPieces(partsOf(60, () => ({ kind: 'payload', payload: large })))) {
    largest = Math.max(largest, piece.byteLength);
    total += piece.byteLength;
  }
  expect(total).toBeGreaterThan(60_000_000);
  expect(largest).toBeLessThan(1_100_000);
});

it.each([1, BLOCK_LINES - 2, BLOCK_LINES - 1, BLOCK_LINES, 3 * BLOCK_LINES + 7])(
  'ends %i events with the digest that is chained over blocks of lines',
  async (count) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of exportPieces(partsOf(count, event))) pieces.push(piece);
    const lines = Buffer.concat(pieces)
      .toString()
      .split(/(?<=\n)/);
    const footer: unknown = JSON.parse(lines.pop() ?? '');
    let digest: ReturnType<typeof hash> | '' = '';
    for (let at = 0; at < lines.length; at += BLOCK_LINES)
      digest = chainBlock(digest, Buffer.from(lines.slice(at, at + BLOCK_LINES).join('')), hash);
    expect(lines).toHaveLength(count + 1);
    expect(footer).toEqual({ footer: { events: count, payloads: 0, digest } });
  },
);
