import { absolute, duration, exactDollars, whole } from '@/components/ui/format';
import type { Zone } from '@/components/ui/zone';
import type { PayloadRef } from '@/lib/core/events/payload';
import type {
  CheckpointTrigger,
  DecisionOutcome,
  EventKind,
  EventOf,
  PlanOptions,
  RunEvent,
  VariablePatch,
  WaitingOn,
} from '@/lib/core/events/run-event';
import { failureWord } from './views';

/** One thing that an event says. */
export type EventFact =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'payload'; readonly name: string; readonly payload: PayloadRef };

/** Shown in the head of every event. */
const stamp: ReadonlySet<string> = new Set([
  'runId',
  'seq',
  'at',
  'epoch',
  'by',
  'version',
  'kind',
  'inherited',
]);
const instants: ReadonlySet<string> = new Set(['until', 'sendBy', 'leavesBy', 'startedAt']);
/** Anything that JSON can hold; shown as it is. */
const raw: ReadonlySet<string> = new Set(['value', 'parameters', 'context', 'mapping', 'compensate']);

/** What a member is called where its own name would not say it. Lengths of time and money lose their unit. */
const names: Readonly<Record<string, string>> = {
  argsDigest: 'digest of the arguments',
  askedDigest: 'digest of what is asked',
  commandId: 'order id',
  costMicroUsd: 'cost',
  endedBefore: 'as it had ended before',
  entrySeq: 'visit entered at seq',
  final: 'last attempt',
  inputDigest: 'digest of the input',
  intentSeq: 'intent at seq',
  keptMessages: 'messages kept',
  keyValidForMs: 'key valid for',
  leavesBy: 'leaves by',
  nextDelayMs: 'tried again after',
  of: 'value of',
  on: 'waits on',
  op: 'what',
  othersSeq: 'console events up to seq',
  patch: 'change',
  questionDigest: 'digest of the question',
  recordedDigest: 'digest of what is recorded',
  runId: 'run',
  sendBy: 'sent by',
  settlesWithinMs: 'settles within',
  sourceRunId: 'answered from run',
  sourceSeq: 'answered from seq',
  step: 'kind',
  timeoutMs: 'time-out',
  toSeq: 'back to seq',
  verifiable: 'has a probe',
  workerId: 'worker',
};

type Words<Value extends string> = Readonly<Record<Value, string>>;

const causes = {
  'lease-lapsed': 'the lease lapsed',
  'hand-over': 'the worker gave the run back',
  recorded: 'the trace ends here',
  'order-refused': 'the order was refused, its plan had changed',
  error: 'an error',
  diverged: 'it came to something else than was recorded',
  'no-record': 'there is no record to answer from',
  drift: 'what is declared has changed',
  'not-recorded': 'a result could not be recorded',
  refused: 'refused, what it was made for had changed',
} as const satisfies Words<EventOf<'run.interrupted'>['cause'] | EventOf<'run.failed'>['cause']>;

const outcomes = {
  happened: 'happened',
  'did-not-happen': 'did not happen',
  unknown: 'unknown',
  hold: 'hold',
  'keep-recorded': 'keep the recorded outcome',
  'compensate-and-run': 'compensate and run',
  'run-additional': 'run as an additional effect',
  done: 'done',
  refused: 'refused',
  withdrawn: 'withdrawn',
} as const satisfies Words<
  DecisionOutcome | EventOf<'effect.verified'>['outcome'] | EventOf<'command.ended'>['outcome']
>;

/** Words for what stands in a member, where it is one of few; by its event's kind where other events have free text there. */
const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cause: causes,
  outcome: outcomes,
  'run.queued reason': {
    created: 'it was created',
    command: 'an order',
    answer: 'a question was answered',
    timer: 'a timer is due',
    expiry: 'a question expired',
    'hand-over': 'the worker gave the run back',
  } satisfies Words<EventOf<'run.queued'>['reason']>,
  for: {
    question: 'an answer',
    'in-doubt': 'an effect in doubt to be decided',
    blocked: 'a blocked step',
    conflict: 'an effect that was confirmed with other arguments',
    timer: 'a timer',
  } satisfies Words<WaitingOn['for']>,
  failure: failureWord,
  'effect.verified source': {
    probe: 'the tool’s probe',
    'late-worker': 'a late worker',
  } satisfies Words<EventOf<'effect.verified'>['source']>,
  trigger: {
    'before-effect': 'before an effect',
    'every-n-steps': 'after a number of steps',
    'every-t-seconds': 'after a length of time',
    manual: 'the agent’s code',
    imported: 'imported',
    inherited: 'inherited',
  } satisfies Words<CheckpointTrigger>,
  op: { add: 'set', replace: 'set anew', remove: 'removed' } satisfies Words<VariablePatch['op']>,
  'divergence.found what': {
    input: 'the input differs',
    result: 'the result differs',
    kind: 'the kind of call differs',
    missing: 'a recorded call is not made',
    extra: 'a call is made that is not recorded',
    state: 'another state is entered',
  } satisfies Words<EventOf<'divergence.found'>['what']>,
  llm: { record: 'answers from the record', 'ask-again': 'asked again' } satisfies Words<
    NonNullable<PlanOptions['llm']>
  >,
  gate: { run: 'all visits are entered again first' } satisfies Words<NonNullable<PlanOptions['gate']>>,
};

/** What is looked up comes from outside, and may be called as something that every object has. */
const own = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isPayload = (value: unknown): value is PayloadRef =>
  isObject(value) &&
  typeof value['sha256'] === 'string' &&
  typeof value['bytes'] === 'number' &&
  typeof value['codec'] === 'string';

/** `questionId` as `question id`. */
const spoken = (key: string): string =>
  own(names, key) ??
  (/^[a-z][A-Za-z]*$/.test(key) ? key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : key);

function textOf(kind: EventKind, key: string, value: string | number | boolean | null, zone: Zone): string {
  if (typeof value === 'string') {
    const said = own(words, `${kind} ${key}`) ?? own(words, key);
    return (said && own(said, value)) ?? value;
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return 'none';
  if (instants.has(key)) return absolute(value, zone);
  if (key.endsWith('Ms')) return duration(value);
  return key === 'costMicroUsd' ? exactDollars(value) : whole(value);
}

interface Place {
  readonly kind: EventKind;
  readonly zone: Zone;
}

function factsOf(name: string, key: string, value: unknown, at: Place): readonly EventFact[] {
  if (value === undefined) return [];
  if (isPayload(value)) return [{ kind: 'payload', name, payload: value }];
  if (raw.has(key) && typeof value !== 'string') return [{ kind: 'text', name, text: JSON.stringify(value) }];
  if (!isObject(value))
    return [
      { kind: 'text', name, text: textOf(at.kind, key, value as string | number | boolean | null, at.zone) },
    ];
  const members = Object.entries(value);
  if (members.length === 0) return [{ kind: 'text', name, text: 'none' }];
  return members.flatMap(([member, inner]) =>
    factsOf(
      Array.isArray(value)
        ? members.length === 1
          ? name
          : `${name} ${Number(member) + 1}`
        : `${name}, ${spoken(member)}`,
      member,
      inner,
      at,
    ),
  );
}

/** Everything that an event says beyond its head, in the journal's order; nothing is left out. */
export const eventFacts = (event: RunEvent, zone: Zone): readonly EventFact[] =>
  Object.entries(event)
    .filter(([key]) => !stamp.has(key))
    .flatMap(([key, value]) => factsOf(spoken(key), key, value, { kind: event.kind, zone }));
