import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type RunId, sha256 } from '@/lib/core/events/ids';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { visitPath } from '@/lib/core/events/step-key';
import { foldRun } from '@/lib/core/projections/run-state';
import type { FileImporter, Imported, ImportedRun, ImportTools } from '@/lib/usecases/ports';
import { runEvent } from '@/lib/wire/v1/events';
import { machine } from '@/lib/wire/v1/runs';

/** A file that the importer must read. */
export interface ImportSample {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export const importTools: ImportTools = {
  hash: (content) => sha256(createHash('sha256').update(content).digest('hex')),
  maxDepth: 256,
};

/** The file as runs; a refusal is a failed test. */
export function decoded(importer: FileImporter, bytes: Uint8Array): Imported {
  const result = importer.decode(bytes, importTools);
  if (!result.ok)
    throw new Error(`${importer.id} refused the sample at ${result.problem.path}: ${result.problem.message}`);
  return result.value;
}

/** What every importer promises. `foreign`: files of other formats, and of none. */
export function importerContract(
  importer: FileImporter,
  samples: readonly ImportSample[],
  foreign: readonly ImportSample[],
): void {
  const head = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 65_536));

  describe.each(samples)('$name', ({ bytes }) => {
    it('is recognised by its content alone', () => expect(importer.recognises(head(bytes), '')).toBe(true));

    it('gives the same runs with the same ids every time', () => {
      expect(decoded(importer, bytes)).toEqual(decoded(importer, bytes));
    });

    it('gives journals without gaps that our own export format can hold', () => {
      const { runs } = decoded(importer, bytes);
      expect(new Set(runs.map((run) => run.runId)).size).toBe(runs.length);
      for (const run of runs) {
        expect(run.events.map((event) => event.seq)).toEqual(run.events.map((_, i) => i + 1));
        for (const event of run.events) {
          expect(event.runId).toBe(run.runId);
          expect(runEvent.safeParse(JSON.parse(JSON.stringify(event))).error).toBeUndefined();
        }
        expect(foldRun(run.events).seq).toBe(run.events.length);
      }
    });

    it('forks only from runs that it gives before, at an event that they have', () => {
      const before = new Map<RunId, number>();
      for (const run of decoded(importer, bytes).runs) {
        if (run.parent !== undefined && samples.length > 0 && before.has(run.parent.runId)) {
          expect(run.parent.seq).toBeGreaterThan(0);
          expect(run.parent.seq).toBeLessThanOrEqual(before.get(run.parent.runId) ?? 0);
          expect(run.root).not.toBe(run.runId);
        }
        before.set(run.runId, run.events.length);
      }
    });

    it('ends no step before it starts, and none twice', () => {
      for (const run of decoded(importer, bytes).runs) expect(stepFaults(run.events)).toEqual([]);
    });

    it('brings every payload that its events refer to, under its true digest', () => {
      for (const run of decoded(importer, bytes).runs) {
        for (const ref of run.events.flatMap(payloadRefsOf)) {
          const payload = run.payloads.get(ref.sha256);
          expect(payload?.bytes).toBe(ref.bytes);
          expect(payload === undefined ? undefined : importTools.hash(payload.body)).toBe(ref.sha256);
        }
      }
    });

    it('says where it could not read or had to infer something', () => {
      for (const { path, message } of decoded(importer, bytes).warnings) {
        expect(path).not.toBe('');
        expect(message).not.toBe('');
      }
    });
  });

  it.each(foreign)('does not recognise $name', ({ bytes }) => {
    expect(importer.recognises(head(bytes), 'application/json')).toBe(false);
  });

  it.each(foreign)('refuses $name with a place and a reason when it is told to read it', ({ bytes }) => {
    const result = importer.decode(bytes, importTools);
    expect(result.ok).toBe(false);
    if (!result.ok)
      expect(result.problem).toMatchObject({
        path: expect.stringMatching(/./),
        message: expect.stringMatching(/./),
      });
  });
}

/** What every journal that an importer makes keeps to: each breach in words. */
export function runFaults(run: ImportedRun): readonly string[] {
  return [
    ...run.events.flatMap((event, i) => {
      const parsed = runEvent.safeParse(JSON.parse(JSON.stringify(event)));
      return [
        ...(event.seq === i + 1 ? [] : [`seq ${event.seq} stands at ${i + 1}`]),
        ...(event.runId === run.runId ? [] : [`seq ${event.seq} is of ${event.runId}`]),
        ...(event.at >= (run.events[i - 1]?.at ?? 0) ? [] : [`seq ${event.seq} goes back in time`]),
        ...(parsed.error === undefined ? [] : [`seq ${event.seq} ${event.kind}: ${parsed.error.message}`]),
      ];
    }),
    ...(foldRun(run.events).seq === run.events.length ? [] : ['the fold does not reach the end']),
    ...stepFaults(run.events),
    ...visitFaults(run.events),
    ...run.events.flatMap(payloadRefsOf).flatMap((ref) => {
      const payload = run.payloads.get(ref.sha256);
      return payload !== undefined &&
        payload.bytes === ref.bytes &&
        importTools.hash(payload.body) === ref.sha256
        ? []
        : [`payload ${ref.sha256} is not brought, or is another`];
    }),
    ...(run.machine === undefined ||
    machine.safeParse(JSON.parse(JSON.stringify(run.machine.machine))).success
      ? []
      : ['the machine cannot be sent']),
  ];
}

/** Visits left that are not open, entered twice, out of number, or with steps that begin outside of them. */
function visitFaults(events: readonly RunEvent[]): readonly string[] {
  const open = new Set<string>();
  const counts = new Map<string, number>();
  const faults: string[] = [];
  for (const event of events) {
    if (event.kind === 'state.entered') {
      const nth = (counts.get(event.state) ?? 0) + 1;
      counts.set(event.state, nth);
      if (event.visit !== nth) faults.push(`${event.key} is visit ${event.visit}, not ${nth}`);
      if (event.key !== visitPath(event.state, nth))
        faults.push(`${event.key} is no address of ${event.state}`);
      open.add(event.key);
    } else if (event.kind === 'state.left') {
      if (!open.delete(event.key)) faults.push(`${event.key} is left and was not open`);
    } else if (
      event.kind === 'step.started' ||
      event.kind === 'step.completed' ||
      event.kind === 'step.failed'
    ) {
      const visit = event.stepKey.split('/', 1)[0] ?? '';
      if (!open.has(visit)) faults.push(`${event.stepKey} ${event.kind} outside of its visit`);
    }
  }
  return faults;
}

/** Attempts that end without having begun, begin while they are open, or end earlier than they began. */
function stepFaults(events: readonly RunEvent[]): readonly string[] {
  const open = new Map<string, RunEvent>();
  const faults: string[] = [];
  for (const event of events) {
    if (event.kind !== 'step.started' && event.kind !== 'step.completed' && event.kind !== 'step.failed')
      continue;
    const key = `${event.stepKey} ${event.attempt}`;
    const start = open.get(key);
    if (event.kind === 'step.started') {
      if (start !== undefined) faults.push(`${key} begins twice`);
      open.set(key, event);
    } else if (start === undefined) faults.push(`${key} ends and was not begun`);
    else {
      if (event.at < start.at) faults.push(`${key} ends before it begins`);
      open.delete(key);
    }
  }
  return faults;
}

/** `count` damaged copies of `bytes`, the same ones for a seed: flipped, cut, doubled, emptied and swapped parts. */
export function* mutations(bytes: Uint8Array, count: number, seed: number): Generator<Uint8Array> {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % Math.max(1, below);
  };
  const tokens = [
    'null',
    '{}',
    '[]',
    '-1',
    '1e999',
    '"\\u0000"',
    '"\\ud800"',
    'true',
    '""',
    '9007199254740993',
    '{"$rerail":"x"}',
  ];
  const text = Buffer.from(bytes).toString('latin1');
  for (let i = 0; i < count; i += 1) {
    const at = random(text.length);
    const to = Math.min(text.length, at + 1 + random(40));
    const token = tokens[random(tokens.length)] ?? 'null';
    switch (random(7)) {
      case 0:
        yield Buffer.from(text.slice(0, at), 'latin1');
        break;
      case 1:
        yield Buffer.from(
          text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1),
          'latin1',
        );
        break;
      case 2:
        yield Buffer.from(text.slice(0, at) + text.slice(to), 'latin1');
        break;
      case 3:
        yield Buffer.from(text.slice(0, to) + text.slice(at), 'latin1');
        break;
      default:
        yield Buffer.from(withValue(text, at, token), 'latin1');
    }
  }
}

/** The text with the JSON value after the next colon replaced, so that the file stays well-formed more often than not. */
function withValue(text: string, from: number, token: string): string {
  const value = /:\s*("(?:[^"\\]|\\.){0,200}"|-?[\d.]+|true|false|null|\[\s*\]|\{\s*\})/g;
  value.lastIndex = from;
  const match = value.exec(text);
  return match === null
    ? text.slice(0, from) + token + text.slice(from)
    : `${text.slice(0, match.index)}: ${token}${text.slice(match.index + match[0].length)}`;
}
