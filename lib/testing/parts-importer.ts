import { type EpochMs, epoch, epochMs, runId, type StepKey, seq, stepKey } from '@/lib/core/events/ids';
import { draftJournal } from '@/lib/ingest/importer';
import type { ImportedPart, ImportTools, PartsImporter } from '@/lib/usecases/ports';

/* A format of parts for tests of what stands on importers: a line for each call of a run, in any order. */

/** One line. `root`: the call that the whole run is; until it is there, nobody knows how the run ended. */
export interface CallLine {
  readonly run: string;
  readonly id: string;
  readonly name: string;
  readonly at: number;
  readonly end: number;
  readonly root?: true;
  /** Sent out into the world: has a row in the ledger. */
  readonly pays?: true;
  /** Saved a checkpoint when it had ended. */
  readonly saves?: true;
  readonly result?: string;
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

export const callLines = (calls: readonly CallLine[]): Uint8Array =>
  utf8.encode(['calls/1', ...calls.map((call) => JSON.stringify(call))].join('\n'));

/** Occurrences of a name are numbered in the order of their beginnings: a late call changes the keys of those after it. */
export const callsImporter: PartsImporter = {
  kind: 'parts',
  id: 'calls',
  title: 'calls, one a line (tests)',
  recognises: (head) => head.startsWith('calls/1'),
  split(bytes) {
    const [mark, ...lines] = fromUtf8.decode(bytes).split('\n');
    if (mark !== 'calls/1')
      return { ok: false, problem: { kind: 'malformed', path: 'line 1', message: 'no such file' } };
    const parts: ImportedPart[] = [];
    const warnings = lines.flatMap((line, i) => {
      const call = readCall(line);
      if (call === undefined) return [{ path: `line ${i + 2}`, message: 'no call' }];
      parts.push({ runId: runId(call.run), id: call.id, body: utf8.encode(line) });
      return [];
    });
    return { ok: true, value: { parts, warnings, rejected: warnings.length } };
  },
  assemble(id, parts, tools) {
    const calls = parts.flatMap(({ body }) => readCall(fromUtf8.decode(body)) ?? []).sort(byBeginning);
    return { run: runOf(id, calls, tools), warnings: [] };
  },
};

function readCall(line: string): CallLine | undefined {
  try {
    const call = JSON.parse(line) as CallLine;
    return typeof call.run === 'string' && typeof call.id === 'string' ? call : undefined;
  } catch {
    return undefined;
  }
}

const byBeginning = (a: CallLine, b: CallLine) => a.at - b.at || (a.id < b.id ? -1 : 1);

interface Moment {
  readonly at: EpochMs;
  readonly call: CallLine;
  readonly key: StepKey;
  readonly ends: boolean;
}

function runOf(id: Parameters<PartsImporter['assemble']>[0], calls: readonly CallLine[], tools: ImportTools) {
  const root = calls.find((call) => call.root);
  const steps = calls.filter((call) => call !== root);
  const journal = draftJournal(id, tools.hash, new Map());
  const first = epochMs(calls[0]?.at ?? 0);
  const agent = root?.name ?? 'unknown';
  journal.push({ kind: 'run.started', at: first, agent, tags: [] });
  const entrySeq = journal.push({ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 });
  for (const moment of momentsOf(steps)) tell(journal, moment, tools, entrySeq);
  if (root !== undefined) {
    journal.push({ kind: 'state.left', key: 'work#1', state: 'work', visit: 1, at: epochMs(root.end) });
    journal.push({ kind: 'run.completed', at: epochMs(root.end) });
  }
  return {
    runId: id,
    root: id,
    source: 'calls',
    agent,
    createdAt: first,
    epoch: epoch(1),
    events: journal.events,
    payloads: journal.payloads,
    growth: 'assembled' as const,
  };
}

function momentsOf(calls: readonly CallLine[]): readonly Moment[] {
  const times = new Map<string, number>();
  const moments = calls.flatMap((call): Moment[] => {
    const n = (times.get(call.name) ?? 0) + 1;
    times.set(call.name, n);
    const key = stepKey(`work#1/${call.name}#${n}`);
    return [
      { at: epochMs(call.at), call, key, ends: false },
      { at: epochMs(call.end), call, key, ends: true },
    ];
  });
  return moments.sort(
    (a, b) => a.at - b.at || Number(a.ends) - Number(b.ends) || byBeginning(a.call, b.call),
  );
}

function tell(
  journal: ReturnType<typeof draftJournal>,
  { at, call, key, ends }: Moment,
  { hash }: ImportTools,
  entrySeq: ReturnType<typeof seq>,
): void {
  if (ends) {
    const result = journal.put(call.result ?? call.id);
    journal.push({ kind: 'step.completed', at, stepKey: key, attempt: 1, recorded: true, result });
    if (call.saves)
      journal.push({
        kind: 'checkpoint.saved',
        at,
        trigger: 'imported',
        name: `after ${call.name}`,
        visit: 'work#1',
        entrySeq,
        othersSeq: seq(0),
      });
    return;
  }
  const idempotencyKey = `${journal.runId} ${key}`;
  const inputDigest = hash(call.name);
  journal.push({
    kind: 'step.started',
    at,
    stepKey: key,
    name: call.name,
    step: 'tool',
    effect: call.pays ? 'external' : 'read',
    attempt: 1,
    inputDigest,
    ...(call.pays && {
      intent: {
        idempotencyKey,
        generation: 1,
        argsDigest: inputDigest,
        sendBy: epochMs(call.at + 1_000),
        timeoutMs: 1_000,
        settlesWithinMs: 1_000,
        keyValidForMs: 1_000,
        guarded: true,
        verifiable: false,
      },
    }),
  });
}
