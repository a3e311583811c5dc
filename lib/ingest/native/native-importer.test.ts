import { describe, expect, it } from 'vitest';
import { epoch, epochMs, runId, type Sha256, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { hash, values, visitEvents } from '@/lib/testing/bench/synthetic-run';
import { BLOCK_LINES, chainBlock, exportLine } from '@/lib/wire/v1/export';
import { nativeImporter } from './native-importer';

const id = runId('long');
const VISITS = 420;
const events: readonly RunEvent[] = Array.from({ length: VISITS }, (_, i) => visitEvents(i + 1))
  .flat()
  .map((event, i) => ({
    ...event,
    runId: id,
    seq: seq(i + 1),
    at: epochMs(i),
    epoch: epoch(1),
    by: 'worker',
    version: 1,
  }));

const header = {
  format: 'rerail-export',
  version: 1,
  run: {
    runId: id,
    root: id,
    parent: null,
    source: 'sdk',
    agent: 'bench-long',
    createdAt: epochMs(0),
    epoch: epoch(1),
    headSeq: seq(events.length),
  },
  machine: null,
  counts: { events: events.length, steps: 0, checkpoints: 0 },
  headDigest: hash('state'),
} as const;
const before = [
  exportLine({ kind: 'header', header }),
  ...values.map(({ ref, text }) =>
    exportLine({ kind: 'payload', payload: { ...ref, body: Buffer.from(text) } }),
  ),
];
const ofEvents = events.map((event) => exportLine({ kind: 'event', event }));

/** The export of the events, one of them with other members. */
function fileOf(changed?: { readonly seq: number; readonly members: object }): Uint8Array {
  const lines = [...before, ...ofEvents];
  if (changed !== undefined) {
    const event = { ...events[changed.seq - 1], ...changed.members };
    lines[before.length + changed.seq - 1] = JSON.stringify({ event });
  }
  let digest: Sha256 | '' = '';
  for (let at = 0; at < lines.length; at += BLOCK_LINES) {
    const block = lines.slice(at, at + BLOCK_LINES).map((line) => `${line}\n`);
    digest = chainBlock(digest, Buffer.from(block.join('')), hash);
  }
  const footer = { events: events.length, payloads: values.length, digest: digest as Sha256 };
  return Buffer.from(`${lines.join('\n')}\n${exportLine({ kind: 'footer', footer })}\n`);
}

const read = (file: Uint8Array) => nativeImporter.decode(file, { hash, maxDepth: 256 });
/** Why the file is refused, without the line that it names. */
function problemOf(file: Uint8Array) {
  const result = read(file);
  if (result.ok) return undefined;
  const { path, ...problem } = result.problem;
  return { ...problem, path: path.replace(/^line \d+/, 'line') };
}

/** The seq of the first tool call of a visit. */
const callIn = (visit: number) => (visit - 1) * (events.length / VISITS) + 2;
const LINE_AND_EVENT = 2;
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('a file of more than ten thousand events', () => {
  it('gives each as it stands in the file', () => {
    const result = read(fileOf());
    expect(result.ok && result.value.runs[0]?.events).toEqual(events);
  });

  it.each([
    { name: 'a member that no event has', members: { extra: 1 } },
    { name: 'a kind that is not known', members: { kind: 'step.begun' } },
    { name: 'a version that is not known', members: { version: 2 } },
    { name: 'a number that is no whole one', members: { attempt: 1.5 } },
    { name: 'a number out of range', members: { epoch: -1 } },
    { name: 'a text instead of a number', members: { at: '5' } },
    { name: 'a key that cannot stand in an address', members: { stepKey: '..' } },
    { name: 'a name with U+0000', members: { name: 'a\u0000b' } },
    { name: 'a lone surrogate', members: { stepKey: '\ud800' } },
    { name: 'a digest that is none', members: { inputDigest: 'A'.repeat(64) } },
    { name: 'a reference with a member more', members: { input: { ...values[0]?.ref, more: 1 } } },
    { name: 'a payload that is not there', members: { input: { ...values[0]?.ref, sha256: hash('?') } } },
    { name: 'the wrong length of a payload', members: { input: { ...values[0]?.ref, bytes: 1 } } },
    { name: 'another run', members: { runId: 'other' } },
  ])('is refused for $name, at its end in the words of its beginning', ({ members }) => {
    const early = problemOf(fileOf({ seq: callIn(2), members }));
    const late = problemOf(fileOf({ seq: callIn(VISITS), members }));
    expect(late).toEqual(early);
    expect(late).toBeDefined();
  });

  it.each([
    { where: 'beside a reference', seq: callIn(2) },
    { where: 'in a line of its own', seq: callIn(2) - 1 },
  ])('may be nested as deep as the limit and no deeper, $where', ({ seq: at }) => {
    const kindAt = (depth: number) =>
      problemOf(fileOf({ seq: at, members: { at: nested(depth - LINE_AND_EVENT) } }))?.kind;
    expect(kindAt(256)).toBe('malformed');
    expect(kindAt(257)).toBe('limit');
  });

  it('may hold more brackets in its texts than the limit', () => {
    const members = { name: '[{'.repeat(120), api: `"\\${'[{'.repeat(120)}` };
    expect(problemOf(fileOf({ seq: callIn(2), members }))).toBeUndefined();
  });
});
