import { type EpochMs, epoch, epochMs, type RunId } from '@/lib/core/events/ids';
import type { Hash, Payload } from '@/lib/core/events/payload';
import type { RecordedError } from '@/lib/core/events/run-event';
import { digestOf } from '@/lib/core/events/value-codec';
import { assertDefined } from '@/lib/core/shared/assert';
import { draftJournal, type JournalDraft } from '@/lib/ingest/importer';
import type { FileJson } from '@/lib/ingest/json';
import type { ImportedRun, ImportTools, ImportWarning } from '@/lib/usecases/ports';
import { failureOf, wholeCall } from './call';
import { asked, type Conversation, emptyConversation, encodedText, replied, shortened } from './conversation';
import { restOf, type Shown, shownBy, sourceOf } from './details';
import { type Layout, layOut, type Step, type Visit } from './layout';
import { namesOf } from './names';
import type { Instant, Span } from './span';
import { compareInstants } from './span';
import { type Moment, timelineOf } from './timeline';
import { type Node, type Tree, treeOf } from './tree';
import { warningsOf } from './warnings';

export const ID = 'otlp';

/** What the writing of one run carries along. */
interface Writing {
  readonly journal: JournalDraft;
  readonly hash: Hash;
  readonly warn: (warning: ImportWarning) => void;
  readonly conversation: Conversation;
  readonly trackOf: Map<Step, number>;
  readonly shown: Shown;
  /** Key of the source that was told last. */
  source: string;
}

/** The journal that the spans of one trace make. `spans` in any order. */
export function runOf(
  runId: RunId,
  spans: readonly Span[],
  { hash, maxDepth }: ImportTools,
  warn: (warning: ImportWarning) => void,
): ImportedRun {
  const tree = treeOf(spans);
  const layout = layOut(tree, maxDepth, hash);
  const ended = endedRoots(tree);
  const moments = timelineOf(layout, ended.length > 0);
  const journal = draftJournal(runId, hash, new Map<Payload['sha256'], Payload>());
  const { agent, tags } = namesOf(tree, layout);
  const whole = layout.outer[0] ?? onlyRoot(tree);
  const outside = whole === undefined ? undefined : wholeCall(whole.span, 'agent', maxDepth);
  const notes: ImportWarning[] = [];
  const writing: Writing = {
    journal,
    hash,
    warn: (warning) => notes.push(warning),
    conversation: emptyConversation(),
    trackOf: new Map(),
    shown: shownBy(layout, outside?.shown ?? new Map()),
    source: '',
  };
  const input = outside?.input;
  const createdAt = beginOf(tree).ms;
  journal.push({
    kind: 'run.started',
    at: createdAt,
    agent,
    tags,
    ...(input === undefined ? {} : { input: journal.put(input) }),
  });
  for (const moment of moments) write(writing, moment);
  notes.push(...warningsOf(tree, layout));
  if (ended.length > 0) end(writing, tree, layout, ended, notes, outside?.result);
  for (const note of notes) warn(note);
  return {
    runId,
    root: runId,
    source: ID,
    agent,
    createdAt,
    epoch: epoch(1),
    events: journal.events,
    payloads: journal.payloads,
    growth: 'assembled',
  };
}

/** A root that is one call is the run from the outside only where nothing else is. */
const onlyRoot = (tree: Tree): Node | undefined =>
  tree.roots.length === 1 && tree.roots[0]?.span.parentId === undefined ? tree.roots[0] : undefined;

const beginOf = (tree: Tree): Instant =>
  tree.nodes.reduce<Instant | undefined>(
    (min, { start }) => (min === undefined || compareInstants(start, min) < 0 ? start : min),
    undefined,
  ) ?? { ms: epochMs(0), ns: 0 };

function write(writing: Writing, moment: Moment): void {
  switch (moment.kind) {
    case 'enter':
      enter(writing, moment.visit, moment.from, moment.at.ms);
      break;
    case 'leave':
      leave(writing, moment.visit, moment.to, moment.at.ms);
      break;
    case 'begin':
      begin(writing, moment.step, moment.at.ms);
      break;
    case 'end':
      finish(writing, moment.step, moment.at.ms);
      break;
    case 'tell':
      tell(writing, moment.node.span);
      break;
  }
}

function enter(
  writing: Writing,
  { key, state, visit, node }: Visit,
  from: string | undefined,
  at: EpochMs,
): void {
  writing.journal.push({
    kind: 'state.entered',
    at,
    key,
    state,
    visit,
    ...(from === undefined ? {} : { from }),
  });
  if (node !== undefined) tell(writing, node.span);
}

function leave(
  { journal }: Writing,
  { key, state, visit, node }: Visit,
  to: string | undefined,
  at: EpochMs,
): void {
  const failure = node === undefined ? undefined : failureOf(node.span);
  journal.push({
    kind: 'state.left',
    at,
    key,
    state,
    visit,
    ...(to === undefined ? {} : { to }),
    ...(failure === undefined
      ? {}
      : { condition: cut(`failed: ${failure.error.message || failure.error.type}`) }),
  });
}

/**
 * What else the span says, as the variable `span`, and where it came from, where that is not as before. It takes no time:
 * the span's own are in it.
 */
function tell(writing: Writing, span: Span): void {
  const { journal, shown } = writing;
  const source = sourceOf(span);
  const isOther = source.key !== writing.source;
  writing.source = source.key;
  journal.push({
    kind: 'variables.patched',
    patch: [
      ...(isOther ? [{ op: 'add' as const, path: '/source', value: journal.put(source.value) }] : []),
      { op: 'add', path: '/span', value: journal.put(restOf(span, shown)) },
    ],
  });
}

function begin(writing: Writing, step: Step, at: EpochMs): void {
  const { journal, hash } = writing;
  const { call, key, node } = step;
  const common = { kind: 'step.started', at, stepKey: key, name: call.name, attempt: 1 } as const;
  if (call.kind !== 'llm') {
    const { input, kind, model } = call;
    const text = encodedText(input);
    journal.push({
      ...common,
      step: kind,
      ...(kind === 'retrieval' ? { effect: 'read' } : {}),
      ...(input === undefined ? {} : { input: journal.putText(text) }),
      inputDigest: digestOf(text, hash),
      ...(model === undefined ? {} : { model }),
    });
    tell(writing, node.span);
    return;
  }
  const { fresh, track } = asked(writing.conversation, call.messages);
  writing.trackOf.set(step, track);
  for (const { role, text } of fresh)
    journal.push({ kind: 'message.appended', at, role: roleName(role), message: journal.putText(text) });
  const request = encodedText({
    ...(call.model === undefined ? {} : { model: call.model }),
    ...(call.messages.length === 0 ? {} : { messages: call.messages }),
    ...call.asked,
  });
  const short = shortened(writing.conversation, request);
  journal.push({
    ...common,
    step: 'llm',
    effect: 'read',
    input: journal.putText(short.text),
    inputDigest: digestOf(request, hash),
    ...(short.conversation > 0 ? { conversation: short.conversation } : {}),
    ...(call.provider === undefined ? {} : { api: call.provider }),
    ...(call.model === undefined ? {} : { model: call.model }),
    ...(call.parameters === undefined ? {} : { parameters: call.parameters }),
  });
  tell(writing, node.span);
}

const roleName = (role: string): string => {
  const clean = role.replaceAll('\u0000', '').toWellFormed().slice(0, 64).toWellFormed();
  return clean === '' ? 'unknown' : clean;
};

function finish(writing: Writing, step: Step, at: EpochMs): void {
  const { journal } = writing;
  const { call, key } = step;
  if (call.failure !== undefined) {
    failStep(writing, step, at);
    return;
  }
  const done = { kind: 'step.completed', at, stepKey: key, attempt: 1, recorded: true } as const;
  const usage = call.usage === undefined ? {} : { usage: call.usage };
  if (call.kind !== 'llm') {
    journal.push({
      ...done,
      ...(call.result === undefined ? {} : { result: journal.put(call.result) }),
      ...usage,
    });
    return;
  }
  const { reply, rest } = call;
  const result = Object.keys(rest).length === 0 && reply !== undefined ? {} : { result: journal.put(rest) };
  if (reply === undefined) {
    journal.push({ ...done, ...result, ...usage });
    return;
  }
  const said = replied(writing.conversation, writing.trackOf.get(step) ?? 0, reply);
  const message = journal.putText(said.text);
  journal.push({ ...done, ...result, message, ...usage });
  journal.push({ kind: 'message.appended', at, role: roleName(said.role), message });
}

/** What a journal line holds of an error's text; the rest lies whole beside it. */
export const MAX_TEXT = 100_000;
const cut = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
const inLine = ({ type, message, stack }: RecordedError): RecordedError => ({
  type: cut(type),
  message: cut(message),
  ...(stack === undefined ? {} : { stack: cut(stack) }),
});
const isLong = ({ type, message, stack = '' }: RecordedError): boolean =>
  Math.max(type.length, message.length, stack.length) > MAX_TEXT;

function failStep({ journal, warn }: Writing, { call, key, node }: Step, at: EpochMs): void {
  const { kind, error } = assertDefined(call.failure, 'a failed call has a failure');
  const part = call.kind === 'llm' ? call.reply : call.result;
  const long = isLong(error);
  if (long) {
    warn({
      path: `span ${node.span.id}`,
      message: "the error is longer than a journal line holds; it is kept whole as the step's partial result",
    });
  }
  journal.push({
    kind: 'step.failed',
    at,
    stepKey: key,
    attempt: 1,
    failure: kind,
    error: inLine(error),
    final: true,
    ...(long || part !== undefined
      ? { partial: journal.put(long ? { error, ...(part === undefined ? {} : { result: part }) } : part) }
      : {}),
  });
}

/** The roots, once all of them have ended; a trace whose root has not come does not say. */
function endedRoots({ roots }: Tree): readonly Node[] {
  const own = roots.filter(({ span }) => span.parentId === undefined);
  return own.every(({ span }) => span.end !== undefined) ? own : [];
}

/** `notes`: what the trace did not say, told with the run. */
function end(
  writing: Writing,
  tree: Tree,
  layout: Layout,
  roots: readonly Node[],
  notes: readonly ImportWarning[],
  result: FileJson | undefined,
): void {
  const { journal } = writing;
  if (notes.length > 0) {
    const value = journal.put(notes.map(({ path, message }) => `${path}: ${message}`));
    journal.push({ kind: 'variables.patched', patch: [{ op: 'add', path: '/notes', value }] });
  }
  const at = tree.nodes.reduce<EpochMs>(
    (max, { span, start }) => epochMs(Math.max(max, span.end?.ms ?? 0, start.ms)),
    epochMs(0),
  );
  const failed = roots.find(({ span }) => failureOf(span) !== undefined);
  if (failed === undefined) {
    journal.push({
      kind: 'run.completed',
      at,
      ...(result === undefined ? {} : { result: journal.put(result) }),
    });
    return;
  }
  const failure = failureOf(failed.span);
  const error = failure === undefined ? { type: 'Error', message: '' } : failure.error;
  const culprit = culpritOf(writing, layout, error);
  journal.push({
    kind: 'run.failed',
    at,
    cause: 'error',
    error: inLine(error),
    ...(culprit === undefined ? {} : { stepKey: culprit }),
  });
}

/** The failed step whose error the run ended with; else the last thing that happened, where that was a failure. */
function culpritOf({ journal }: Writing, { steps }: Layout, error: RecordedError): Step['key'] | undefined {
  const failed = steps.filter(({ call }) => call.failure !== undefined);
  const same = failed.findLast(
    ({ call }) => call.failure?.error.message === error.message && error.message !== '',
  );
  if (same !== undefined) return same.key;
  const last = journal.events.findLast(({ kind }) => kind === 'step.completed' || kind === 'step.failed');
  return last?.kind === 'step.failed' ? last.stepKey : undefined;
}
