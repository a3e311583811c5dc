import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash } from '../../testing/random-journal';
import { testIntent } from '../../testing/test-call';
import { epoch, epochMs, questionId, runId, seq, stepKey } from '../events/ids';
import { EVENT_VERSION, type NewEvent, type RunEvent } from '../events/run-event';
import { appendBatch } from './append-batch';
import { extend } from './extend';
import { inheritEvents } from './inherit';
import { newRun } from './new-run';

const key = stepKey('work#1/pay#1');
const save = (trigger: 'manual' | 'before-effect' = 'manual'): NewEvent => ({
  kind: 'checkpoint.saved',
  trigger,
  visit: '',
  name: '',
  entrySeq: seq(0),
  othersSeq: seq(0),
});
const enter: NewEvent = { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 };
const hello: NewEvent = { kind: 'message.appended', role: 'user', message: refOf('hi') };
const send = (lineage: TestLineage): NewEvent => ({
  kind: 'step.started',
  stepKey: key,
  name: 'pay',
  step: 'tool',
  effect: 'external',
  attempt: 1,
  inputDigest: testHash('a'),
  intent: testIntent(lineage, { keyValidForMs: 60_000 }),
});
const verified = (intentSeq: number): NewEvent => ({
  kind: 'effect.verified',
  stepKey: key,
  intentSeq: seq(intentSeq),
  outcome: 'unknown',
  source: 'probe',
});

describe('a checkpoint', () => {
  it('names the entry of its visit, the console’s newest event before it, and the intent that it was saved for', () => {
    const lineage = new TestLineage();
    lineage.worker([save()]);
    lineage.worker([hello, enter, hello]);
    lineage.console([
      { kind: 'question.expired', questionId: questionId('q'), stepKey: stepKey('work#1/ask#1') },
    ]);
    lineage.worker([hello, save(), hello, save('before-effect'), send(lineage)]);
    const { events, checkpoints } = lineage.of();
    const place = (kind: string) => events.find((event) => event.kind === kind)?.seq;
    expect(checkpoints).toMatchObject([
      { visit: '', entrySeq: 0, othersSeq: 1 },
      { visit: 'work#1', entrySeq: place('state.entered'), othersSeq: place('question.expired') },
      {
        visit: 'work#1',
        entrySeq: place('state.entered'),
        othersSeq: place('question.expired'),
        intentSeq: place('step.started'),
      },
    ]);
    expect(checkpoints[1]).not.toHaveProperty('intentSeq');
    // What is stored as an event says the same.
    for (const { seq: at, entrySeq, othersSeq } of checkpoints)
      expect(events[at - 1]).toMatchObject({ kind: 'checkpoint.saved', entrySeq, othersSeq });
  });
});

describe('a copy in a fork', () => {
  it('of what a probe said names the copied intent', () => {
    const lineage = new TestLineage();
    lineage.worker([hello, enter, send(lineage)]);
    const intentSeq = lineage.of().run.headSeq;
    lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }, verified(intentSeq)]);
    const copies = inheritEvents(lineage.root, lineage.of().events, seq(100));
    const at = (kind: string) => copies.findIndex((event) => event.kind === kind);
    expect(copies[at('effect.verified')]).toMatchObject({ intentSeq: 100 + at('step.started') });
    expect(100 + at('step.started')).not.toBe(intentSeq);
  });
});

describe('a batch that was stored before', () => {
  it('gives what the console had appended by then, and nothing that came later', () => {
    const lineage = new TestLineage();
    const ask = { epoch: epoch(1), batch: 1, seenSeq: seq(1), events: [hello] };
    const context = () => ({
      now: epochMs(lineage.now),
      run: lineage.of().run,
      effects: lineage.ledger(),
      batch: undefined,
      others: lineage.of().events.filter((event) => event.by === 'console' && event.seq > 1),
      steps: [],
      missingPayloads: [],
    });
    const order = (): void => {
      const commandId = lineage.nextCommand();
      lineage.console([{ kind: 'command.accepted', commandId, mode: 'pause', actor: 'op', reason: '' }]);
    };
    order();
    const first = appendBatch(context(), ask, testHash);
    if (!first.ok || first.value.change === undefined) throw new Error('refused');
    lineage.keep(first.value.change);
    order();
    expect(first.value.answer.others).toHaveLength(1);
    const again = appendBatch({ ...context(), batch: first.value.change.batch }, ask, testHash);
    expect(again).toEqual({ ok: true, value: { answer: first.value.answer, change: undefined } });
    expect(lineage.of().events.filter((event) => event.by === 'console' && event.seq > 1)).toHaveLength(2);
  });
});

describe('events that bring a stamp', () => {
  const lineage = new TestLineage();
  lineage.worker([hello, enter, hello, save(), hello]);
  const { run, events } = lineage.of();
  const placed = (id: string, some: readonly RunEvent[]) =>
    extend(
      newRun({ runId: runId(id), agent: run.state.agent, createdAt: run.createdAt, home: 'mirror' }),
      [],
      some,
      { at: epochMs(1), epoch: epoch(9), by: 'console' },
      { asRecorded: true },
    ).events;

  it('stay what they are where they stand already', () => {
    expect(placed(run.runId, events)).toStrictEqual(events);
  });

  it('are placed anew where they stood elsewhere: in another run, at another seq, in another version', () => {
    const told = structuredClone(events);
    const due = (event: RunEvent, i: number) => ({ ...event, seq: i + 1, version: EVENT_VERSION });
    expect(placed('run_other', events)).toEqual(events.map((event) => ({ ...event, runId: 'run_other' })));
    expect(placed(run.runId, events.slice(2))).toEqual(events.slice(2).map(due));
    expect(
      placed(
        run.runId,
        events.map((event) => ({ ...event, version: 0 })),
      ),
    ).toEqual(events.map(due));
    expect(events).toStrictEqual(told);
  });
});
