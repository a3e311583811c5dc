import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { EventKind, EventOf } from '@/lib/core/events/run-event';
import { decodeValue } from '@/lib/core/events/value-codec';
import { foldRun } from '@/lib/core/projections/run-state';
import {
  decoded,
  type ImportSample,
  importerContract,
  importTools,
  mutations,
} from '@/lib/testing/importer-contract';
import type { ImportedRun } from '@/lib/usecases/ports';
import { langgraphImporter } from './langgraph-importer';

const fixtures = new URL('./fixtures/', import.meta.url);
const own: readonly ImportSample[] = readdirSync(fixtures).map((name) => ({
  name,
  bytes: readFileSync(new URL(name, fixtures)),
}));
const sample = (name: string): Uint8Array => readFileSync(new URL(name, fixtures));

const shared = new URL('../../../../shared/traces/', import.meta.url);
const real = [
  'engines/langgraph-server/thread-history.json',
  'engines/langgraph-server/thread-history-after-forks.json',
  'engines/langgraph-server/thread-state-interrupted.json',
  'langgraph/server_history_state_after_fork.json',
  'langgraph/server_state_interrupted.json',
];
const there = existsSync(shared);
if (!there) console.warn('skipped: real LangGraph files (../shared/traces is not there)');
/** Without bytes where they are not there: their tests are then skipped. */
const sharedSamples: readonly ImportSample[] = real.map((name) => ({
  name,
  bytes: there ? readFileSync(new URL(name, shared)) : new Uint8Array(),
}));

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const foreign: readonly ImportSample[] = [
  { name: 'an empty file', bytes: text('') },
  { name: 'a text', bytes: text('hello') },
  { name: 'an OTLP export', bytes: text('{"resourceSpans":[{"scopeSpans":[]}]}') },
  { name: 'a chat', bytes: text('[{"role":"user","content":"hi"}]') },
  { name: 'an empty list', bytes: text('[]') },
  { name: 'our own export', bytes: text('{"format":"rerail-export","version":1}\n') },
  { name: 'a protobuf', bytes: new Uint8Array([0x0a, 0x80, 0x01, 0xff, 0xfe]) },
  { name: 'values without a checkpoint', bytes: text('{"values":[1,2],"unit":"ms"}') },
];

describe('LangGraph importer', () => importerContract(langgraphImporter, own, foreign));
describe.skipIf(!there)('LangGraph importer with real files', () =>
  importerContract(langgraphImporter, sharedSamples, []),
);

const of = <Kind extends EventKind>(run: ImportedRun | undefined, kind: Kind): readonly EventOf<Kind>[] =>
  (run?.events ?? []).filter((event): event is EventOf<Kind> => event.kind === kind);
const payloadValue = (
  run: ImportedRun | undefined,
  ref: { readonly sha256: string } | undefined,
): unknown => {
  const payload = [...(run?.payloads.values() ?? [])].find(({ sha256 }) => sha256 === ref?.sha256);
  return payload === undefined ? undefined : decodeValue(new TextDecoder().decode(payload.body));
};

describe('what a LangGraph history becomes', () => {
  it('reads flat ids of 2024 and takes a conversation from its messages channel', () => {
    const [run] = decoded(langgraphImporter, sample('flat-ids-2024.json')).runs;
    expect(run?.runId).toBe('a95ffa54-2435-4a47-a9da-e886369ca8ee');
    expect(of(run, 'message.appended').map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(payloadValue(run, of(run, 'run.started')[0]?.input)).toMatchObject({
      messages: [{ content: 'Multiply 2 and 3' }],
    });
    expect(of(run, 'checkpoint.saved').map(({ name }) => name)).toEqual([
      'at the input',
      'after the input',
      'after assistant',
      'after tools',
    ]);
    expect(of(run, 'variables.patched')).toEqual([]);
  });

  it('keeps integers beyond 2^53, lone surrogates, U+0000 and any name of a node as they are', () => {
    const [run] = decoded(langgraphImporter, sample('forks-of-forks.json')).runs;
    const state = foldRun(run?.events ?? []);
    expect(payloadValue(run, state.variables['id'])).toBe(12_345_678_901_234_567_890n);
    expect(payloadValue(run, state.variables['plan'])).toBe('lone \ud800 and \udfff');
    expect(payloadValue(run, state.variables['goal'])).toContain('nul \u0000');
    expect(Object.keys(state.visits)).toEqual(['prüfen/plan#1: 100%', 'approve', 'send']);
    expect(of(run, 'step.started')[0]?.stepKey).toBe(
      'prüfen%2fplan%231%3a 100%25#1/prüfen%2fplan%231%3a 100%25#1',
    );
  });

  it('makes a run of every fork, of forks of forks too, with what it inherits and whence', () => {
    const { runs } = decoded(langgraphImporter, sample('forks-of-forks.json'));
    const [main, ...forks] = runs;
    expect(forks.map(({ parent }) => parent?.runId)).toEqual(
      [main?.runId, main?.runId, forks[0]?.runId].sort(),
    );
    for (const fork of forks) {
      const parent = runs.find(({ runId }) => runId === fork.parent?.runId);
      expect(parent?.events[(fork.parent?.seq ?? 0) - 1]?.kind).toBe('checkpoint.saved');
      const inherited = fork.events.filter((event) => event.inherited !== undefined);
      expect(inherited.length).toBeGreaterThan(0);
      for (const event of inherited)
        expect(parent?.events[(event.inherited?.seq ?? 0) - 1]?.kind).toBe(event.kind);
      expect(inherited.map((event) => event.at)).toEqual(
        inherited.map((event) => parent?.events[(event.inherited?.seq ?? 0) - 1]?.at),
      );
    }
    for (const { events } of runs) expect(foldRun(events).pending).toBeUndefined();
    expect(runs.map(({ events }) => foldRun(events).status).sort()).toEqual([
      'completed',
      'completed',
      'failed',
      'waiting',
    ]);
  });

  it('asks the questions of interrupts, and says that an answer was given but not recorded', () => {
    const { runs, warnings } = decoded(langgraphImporter, sample('forks-of-forks.json'));
    const [main] = runs;
    expect(of(main, 'question.asked').map(({ questionId }) => questionId)).toEqual(['q1']);
    expect(payloadValue(main, of(main, 'question.asked')[0]?.question)).toEqual({
      question: 'send?',
      to: 'lone \ud800 and \udfff',
    });
    expect(of(main, 'question.answered')).toMatchObject([{ actor: 'not recorded', by: 'console' }]);
    expect(warnings.map(({ message }) => message).join('\n')).toMatch(/1 answer is shown as undefined/);
    const failed = runs.find(({ events }) => foldRun(events).status === 'failed');
    expect(of(failed, 'question.expired').map(({ questionId }) => questionId)).toEqual(['q2']);
    expect(of(failed, 'run.failed')[0]?.error).toEqual({
      type: 'SmtpError',
      message: "SmtpError('mailbox \\u00fcber quota')",
    });
  });

  it('shows parallel nodes as visits that overlap, every Send as a step, a join with all its edges', () => {
    const [run] = decoded(langgraphImporter, sample('parallel.json')).runs;
    const state = foldRun(run?.events ?? []);
    expect(Object.fromEntries(Object.entries(state.edges).map(([edge, { count }]) => [edge, count]))).toEqual(
      {
        'split→search': 2,
        'split→rate': 2,
        'search→join': 1,
        'rate→join': 1,
        'join→split': 1,
      },
    );
    // One of two parallel tasks has a result: the other one had begun, and nobody knows more.
    expect(state.counts.steps).toBe(7);
    expect(Object.values(state.open).map(({ name }) => name)).toEqual(['rate']);
  });

  it('takes the graph beside the history as an imported machine', () => {
    const [run] = decoded(langgraphImporter, sample('with-graph.json')).runs;
    expect(run?.machine?.machine).toMatchObject({
      agent: 'desk',
      provenance: 'imported',
      initial: 'split',
      states: { join: { transitions: ['split'], final: true } },
    });
    expect(of(run, 'run.started')[0]?.machineDigest).toBe(run?.machine?.digest);
  });

  it('shows an attempt that failed before the one that did not, and the second turn of a thread', () => {
    const [run] = decoded(langgraphImporter, sample('retry-and-second-turn.json')).runs;
    expect(
      run?.events
        .filter(({ kind }) => kind.startsWith('run.') || kind.startsWith('step.'))
        .map(({ kind }) => kind),
    ).toEqual([
      'run.started',
      'step.started',
      'step.failed',
      'run.failed',
      'run.resumed',
      'step.started',
      'step.completed',
      'run.completed',
      'run.resumed',
      'step.started',
      'step.completed',
      'run.completed',
    ]);
  });

  it('keeps a conversation whole when the thread drops messages, with the list as it then was', () => {
    const [run] = decoded(langgraphImporter, sample('messages-trimmed.json')).runs;
    expect(of(run, 'message.appended').map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
    expect(payloadValue(run, foldRun(run?.events ?? []).variables['messages'])).toMatchObject([
      { id: 'm2' },
      { id: 'm3' },
    ]);
  });

  it('skips what it cannot read and names every such part', () => {
    const { runs, warnings } = decoded(langgraphImporter, sample('broken-parts.json'));
    expect(runs.length).toBe(1);
    expect(foldRun(runs[0]?.events ?? []).status).toBe('completed');
    const told = warnings.map(({ path, message }) => `${path} ${message}`);
    for (const path of [
      '$[1]',
      '$[2]',
      '$[3]',
      '$[4]',
      '$[5]',
      '$[6]',
      '$[8]',
      '$[7].tasks[1]',
      '$[0].created_at',
      '$[7].created_at',
    ]) {
      expect(told.some((line) => line.startsWith(`${path} `))).toBe(true);
    }
  });

  it('names a parent that is not in the file', () => {
    const { runs, warnings } = decoded(langgraphImporter, sample('window.json'));
    expect(runs.map(({ runId }) => runId)).toEqual([
      '0191a2b3-0000-7000-8000-000000000002~1f0a000b-0000-6000-8000-00000000000b',
    ]);
    expect(warnings[0]).toEqual({
      path: '$[2]',
      message: expect.stringContaining('missing parent 1f0a000a-'),
    });
  });

  it('gives what an earlier history of the same thread gave, and more', () => {
    const states: unknown[] = JSON.parse(new TextDecoder().decode(sample('forks-of-forks.json')));
    let before: readonly ImportedRun[] = [];
    for (let n = 1; n <= states.length; n += 1) {
      const { runs } = decoded(langgraphImporter, text(JSON.stringify(states.slice(-n))));
      for (const old of before) expect(runs.some(({ runId }) => runId === old.runId)).toBe(true);
      before = runs;
    }
  });

  it('reads states one a line, and counts lines that are none', () => {
    const states: unknown[] = JSON.parse(new TextDecoder().decode(sample('window.json')));
    const lines = [...states.map((state) => JSON.stringify(state)), '{"torn":'].join('\n');
    const { runs, warnings } = decoded(langgraphImporter, text(lines));
    expect(runs[0]?.events.length).toBe(
      decoded(langgraphImporter, sample('window.json')).runs[0]?.events.length,
    );
    expect(warnings.find(({ path }) => path === 'line 4')?.message).toMatch(/skipped: not JSON/);
  });

  it('refuses what nests deeper than the limit and names the limit', () => {
    const deep = `[{"values":${'['.repeat(300)}${']'.repeat(300)},"next":[],"checkpoint_id":"c"}]`;
    const result = langgraphImporter.decode(text(deep), importTools);
    expect(result).toMatchObject({ ok: false, problem: { kind: 'limit', limit: 'depth', max: 256 } });
  });

  it('lets parents that run in a circle begin somewhere', () => {
    const state = (id: string, parent: string) => ({
      values: {},
      next: ['a'],
      tasks: [],
      checkpoint_id: id,
      parent_checkpoint_id: parent,
      created_at: '2026-01-01T00:00:00Z',
    });
    const { runs, warnings } = decoded(
      langgraphImporter,
      text(JSON.stringify([state('c1', 'c2'), state('c2', 'c1')])),
    );
    expect(runs.length).toBe(1);
    expect(warnings.some(({ message }) => message.includes('circle'))).toBe(true);
  });
});

describe('damaged LangGraph files', () => {
  it.each(own)('$name never throws, whatever happened to it, and says where', ({ bytes }) => {
    for (const damaged of mutations(bytes, 150, bytes.length)) {
      const result = langgraphImporter.decode(damaged, importTools);
      if (result.ok) for (const run of result.value.runs) foldRun(run.events);
      else expect(result.problem.path).not.toBe('');
    }
  });
});
