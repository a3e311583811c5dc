import { type RunId, type Seq, seq } from '../core/events/ids';
import { joinReply } from '../core/events/llm-texts';
import type { PayloadRef } from '../core/events/payload';
import { editedStep } from '../core/planner/edits';
import type { JournalPort, StateView } from './journal-port';
import type { Outcome } from './operation';
import { type OutcomeEvent, pathOf, type RecordedRun, recordOf } from './record';
import { type Stored, store, storedText } from './values';
import { emptyView, type View } from './view';

/** A run as its worker takes it up: the state at the entry of its open visit, and what is recorded from there on. */
export interface LoadedRun {
  /** The open visit; `undefined` before the first state. */
  readonly entry: { readonly key: string; readonly state: string } | undefined;
  readonly input: Stored | undefined;
  readonly view: View;
  readonly head: StateView;
  /** Its messages in the journal up to the head; `view` has those before the entry. */
  readonly conversation: readonly Stored[];
  record: RecordedRun;
  /** Payload texts of the record by digest: variables, messages, results, answers. */
  texts: ReadonlyMap<string, Stored>;
}

/** Nothing is recorded yet. */
export const emptyRecord = (): RecordedRun => recordOf([], undefined, { retry: true });

/** Lets go of what only re-entry asks for. */
export function forgetRecord(loaded: LoadedRun): void {
  loaded.record = emptyRecord();
  loaded.texts = new Map();
}

/**
 * Loads what re-entry needs: `fromStart` (replay) the whole run, else the open visit alone. `upTo` is the seq that
 * counts as the head.
 */
export async function loadRun(
  port: JournalPort,
  runId: RunId,
  upTo: Seq,
  options: { readonly fromStart: boolean },
): Promise<LoadedRun> {
  const head = await port.state(runId, upTo);
  const entrySeq = options.fromStart ? undefined : head.visit?.entrySeq;
  const view = emptyView();
  const wanted = new Map<string, PayloadRef>();
  const want = (ref: PayloadRef | undefined) => {
    if (ref !== undefined) wanted.set(ref.sha256, ref);
  };
  want(head.input);
  const [before, messages, events] = await Promise.all([
    entrySeq === undefined ? undefined : port.state(runId, entrySeq),
    entrySeq === undefined ? [] : port.messages(runId, entrySeq),
    port.events(runId, entrySeq ?? seq(0), upTo),
  ]);
  for (const ref of Object.values(before?.variables ?? {})) want(ref);
  for (const ref of messages) want(ref);
  const path = pathOf(events);
  const record = recordOf(path, entrySeq === undefined ? undefined : head.visit?.key, {
    retry: !options.fromStart,
  });
  const said = path.filter((event) => event.kind === 'message.appended').map((event) => event.message);
  for (const ref of [...refsOf(record), ...said]) want(ref);
  const texts = await loadTexts(port, [...wanted.values()]);

  const textOf = (ref: PayloadRef): Stored => found(texts, ref);
  for (const [name, ref] of Object.entries(before?.variables ?? {})) view.variables.set(name, textOf(ref));
  view.messages.push(...messages.map(textOf));
  for (const [state, count] of Object.entries(before?.visits ?? {})) view.visits.set(state, count);
  const entry =
    entrySeq === undefined || head.visit === undefined
      ? undefined
      : { key: head.visit.key, state: head.visit.state };
  return {
    entry,
    input: head.input === undefined ? undefined : textOf(head.input),
    view,
    head,
    conversation: [...messages, ...said].map(textOf),
    record,
    texts,
  };
}

/** A payload of the record. It was loaded with it. */
export function found(texts: ReadonlyMap<string, Stored>, ref: PayloadRef): Stored {
  const stored = texts.get(ref.sha256);
  if (stored === undefined)
    throw new Error(`Broken invariant: payload ${ref.sha256} was loaded with the record`);
  return stored;
}

function* refsOf(record: RecordedRun): Generator<PayloadRef | undefined> {
  for (const { event } of record.items) {
    if (event.kind === 'variables.patched') for (const { value } of event.patch) yield value;
    else {
      if ('message' in event) yield event.message;
      if ('result' in event) yield event.result;
    }
  }
  for (const edits of record.edits.values()) {
    for (const event of edits) {
      if (event.kind === 'message.appended') yield event.message;
      else for (const { value } of event.patch) yield value;
    }
  }
  for (const answer of record.answers.values()) yield answer.value;
}

/** How a call ended by its record; `undefined` where its value could not be recorded. */
export function outcomeIn(event: OutcomeEvent, texts: ReadonlyMap<string, Stored>): Outcome | undefined {
  if (event.kind === 'step.failed') return { ok: false, failure: event.failure, error: event.error };
  if (event.kind === 'step.reused' && event.error !== undefined)
    return { ok: false, failure: event.failure ?? 'error', error: event.error };
  if (event.kind === 'step.completed' && !event.recorded) return undefined;
  const value = event.result === undefined ? store(undefined, 'result') : found(texts, event.result);
  if (!('message' in event) || event.message === undefined) return { ok: true, value };
  const message = found(texts, event.message);
  return { ok: true, value: storedText(joinReply({ message: message.text, rest: value.text })) };
}

const AT_ONCE = 16;

/** The payloads' texts by digest, several asked for at once. */
export async function loadTexts(
  port: JournalPort,
  refs: readonly PayloadRef[],
): Promise<Map<string, Stored>> {
  const texts = new Map<string, Stored>();
  const queue = [...refs];
  const next = async (): Promise<void> => {
    for (let ref = queue.shift(); ref !== undefined; ref = queue.shift()) {
      texts.set(ref.sha256, { ref, text: await port.payload(ref) });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, queue.length) }, next));
  return texts;
}

/** A recorded outcome that a fork with edits may use again: at equal input, and only once. */
export interface CachedOutcome {
  readonly runId: RunId;
  readonly event: OutcomeEvent;
  readonly inputDigest: string;
  readonly outcome: Outcome;
}

/**
 * Outcomes of the parent's open visit, for a fork with edits. An edited step output takes the place of the recorded
 * one. Pure steps run again, and what an effect did is the ledger's to say: of those only failures are here.
 */
export async function loadCache(
  port: JournalPort,
  parent: { readonly runId: RunId; readonly seq: Seq },
  edits: readonly { readonly path: string; readonly value: unknown }[],
): Promise<ReadonlyMap<string, CachedOutcome>> {
  const loaded = await loadRun(port, parent.runId, parent.seq, { fromStart: false });
  const outputs = new Map<string, Stored>();
  for (const { path, value } of edits) {
    const key = editedStep(path);
    if (key !== undefined) outputs.set(key, store(value, `edit of ${path}`));
  }
  const cache = new Map<string, CachedOutcome>();
  for (const [key, event] of loaded.record.outcomes) {
    const call = loaded.record.calls.get(key);
    if (call === undefined || !('inputDigest' in call) || call.effect === 'pure') continue;
    const edited = outputs.get(key);
    const outcome =
      edited === undefined ? outcomeIn(event, loaded.texts) : ({ ok: true, value: edited } as const);
    const isEffect = call.effect === 'external' || call.effect === 'idempotent';
    if (outcome === undefined || (isEffect && outcome.ok)) continue;
    cache.set(key, { runId: parent.runId, event, inputDigest: call.inputDigest, outcome });
  }
  return cache;
}
