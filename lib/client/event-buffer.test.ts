import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epoch, epochMs, runId, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { CHUNK, chunkOf, EventBuffer, indexOf } from './event-buffer';

const event = (n: number): RunEvent => ({
  runId: runId('run_1'),
  seq: seq(n),
  at: epochMs(n),
  epoch: epoch(1),
  by: 'worker',
  version: 1,
  kind: 'scope.left',
  scope: 'plan#1',
});
const seqs = (buffer: EventBuffer) => buffer.snapshot().events.map((each) => each.seq as number);

describe('EventBuffer', () => {
  it('gives the same log whatever the order and however often events arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 }), { maxLength: 12 }),
        (batches) => {
          const buffer = new EventBuffer();
          for (const batch of batches) buffer.add(batch.map(event));
          expect(seqs(buffer)).toEqual([...new Set(batches.flat())].sort((a, b) => a - b));
        },
      ),
    );
  });

  it('keeps the snapshot until something new arrives, and tells its listeners once for one turn', async () => {
    const buffer = new EventBuffer();
    let told = 0;
    const end = buffer.subscribe(() => {
      told += 1;
    });
    buffer.add([event(1)]);
    buffer.add([event(2)]);
    const before = buffer.snapshot();
    buffer.add([event(1), event(2)]);
    expect(buffer.snapshot()).toBe(before);
    await Promise.resolve();
    expect(told).toBe(1);
    end();
    buffer.add([event(3)]);
    await Promise.resolve();
    expect(told).toBe(1);
  });

  it('forgets everything when the run has another journal, and takes what stands there now', async () => {
    const buffer = new EventBuffer();
    buffer.add([event(1), event(2), event(9)]);
    const { edition } = buffer;
    let told = 0;
    buffer.subscribe(() => {
      told += 1;
    });
    await Promise.resolve();
    told = 0;
    buffer.reset();
    expect(buffer.edition).toBeGreaterThan(edition);
    expect(buffer.snapshot()).toEqual({ events: [], headSeq: 0 });
    const other = { ...event(2), at: epochMs(77) };
    buffer.add([other]);
    expect(buffer.at(2)).toBe(other);
    expect(buffer.snapshot().headSeq).toBe(2);
    await Promise.resolve();
    expect(told).toBe(1);
  });

  it('stays within its limit and keeps what lies nearest to the newest arrival', () => {
    const buffer = new EventBuffer(10);
    buffer.add(Array.from({ length: 10 }, (_, n) => event(n + 1)));
    buffer.add([event(500), event(501)]);
    expect(seqs(buffer)).toHaveLength(10);
    expect(seqs(buffer).slice(-2)).toEqual([500, 501]);
    buffer.add([event(1), event(2)]);
    expect(seqs(buffer)).toHaveLength(10);
    expect(seqs(buffer)).not.toContain(501);
    expect(buffer.snapshot().headSeq).toBe(501);
  });

  it('keeps what lies around the cursor, however much arrives at the head', () => {
    const buffer = new EventBuffer(1_000);
    buffer.add(Array.from({ length: 400 }, (_, n) => event(n + 1)));
    buffer.holdAround(100);
    for (let n = 401; n <= 3_000; n += 1) buffer.add([event(n)]);
    expect([1, 99, 100, 101, CHUNK].map((n) => buffer.at(n)?.seq)).toEqual([1, 99, 100, 101, CHUNK]);
    expect(buffer.at(3_000)?.seq).toBe(3_000);
    expect(seqs(buffer)).toHaveLength(1_000);
    buffer.holdAround(undefined);
    for (let n = 3_001; n <= 3_200; n += 1) buffer.add([event(n)]);
    expect(buffer.at(100)).toBeUndefined();
    expect(seqs(buffer)).toHaveLength(1_000);
    expect(seqs(buffer)).toEqual(seqs(buffer).toSorted((a, b) => a - b));
  });

  it('finds an event by its seq, and the place of one that is not there', () => {
    const buffer = new EventBuffer();
    buffer.add([event(2), event(5)]);
    expect(buffer.at(5)?.seq).toBe(5);
    expect(buffer.at(3)).toBeUndefined();
    expect(indexOf(buffer.snapshot().events, 3)).toBe(1);
  });
});

it('reads stretches that hold what is asked for, and do not overlap', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 0, max: 5_000 }), (at, more) => {
      const [after, to] = chunkOf(at, at + more);
      expect(after < at && at <= to && to <= at + more && to - after <= CHUNK && after % CHUNK === 0).toBe(
        true,
      );
    }),
  );
});
