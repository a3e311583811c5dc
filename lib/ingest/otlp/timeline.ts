import type { Layout, Step, Visit } from './layout';
import { compareInstants, type Instant, laterOf } from './span';
import type { Node } from './tree';

/*
 * The order in which things begin and end. What ends at an instant ends before anything else begins at it.
 *
 * Spans are sent as they end, so everything is placed where it stays as more of them come: a visit is left once it is
 * known to what, and a span that is neither visit nor step is told where it ended.
 */

export type Moment =
  | { readonly kind: 'enter'; readonly visit: Visit; readonly at: Instant; readonly from: string | undefined }
  | { readonly kind: 'leave'; readonly visit: Visit; readonly at: Instant; readonly to: string | undefined }
  | { readonly kind: 'begin' | 'end'; readonly step: Step; readonly at: Instant }
  | { readonly kind: 'tell'; readonly node: Node; readonly at: Instant };

interface Span {
  readonly of: Visit | Step;
  readonly start: Instant;
  readonly end: Instant | undefined;
  readonly depth: number;
  readonly order: number;
}

interface Draft {
  readonly kind: 'begin' | 'end';
  readonly span: Span;
  readonly at: Instant;
}

/** What has begun and will end. */
interface Running {
  readonly span: Span;
  readonly end: Instant;
}

/** `hasEnded`: whether the run has, so that nothing comes after. */
export const timelineOf = (layout: Layout, hasEnded: boolean): readonly Moment[] =>
  leftWhenGone(withRest(withTransitions(draftsOf(layout)), layout.rest), hasEnded);

function draftsOf({ visits, steps }: Layout): readonly Draft[] {
  const spans: Span[] = [
    ...visits.map((visit, order) => ({ of: visit, start: visit.start, end: visit.end, depth: 0, order })),
    ...steps.map((step, order) => ({
      of: step,
      start: step.start,
      end: step.end,
      depth: step.depth,
      order,
    })),
  ].sort(
    (left, right) =>
      compareInstants(left.start, right.start) || left.depth - right.depth || left.order - right.order,
  );
  const drafts: Draft[] = [];
  const running: Running[] = [];
  /** Of what holds steps: how many are still to end before it may, or to begin where they outlive it. */
  const toCome = new Map<Visit | Step, number>();
  const count = (of: Visit | Step, by: number) => toCome.set(of, (toCome.get(of) ?? 0) + by);
  for (const step of steps) {
    count(step.visit, 1);
    if (step.within !== undefined && holdsUp(step, step.within) !== undefined) count(step.within, 1);
  }
  const put = (kind: Draft['kind'], span: Span, at: Instant) => {
    drafts.push({ kind, span, at });
    const { of } = span;
    if (!('call' in of)) return;
    if (kind === 'end') count(of.visit, -1);
    if (of.within !== undefined && holdsUp(of, of.within) === kind) count(of.within, -1);
  };

  /** Ends the next one that is due and may end. */
  const endNext = (until: Instant | undefined): boolean => {
    for (let i = running.length - 1; i >= 0; i -= 1) {
      const next = running[i];
      if (next === undefined || (until !== undefined && compareInstants(next.end, until) > 0)) return false;
      if ((toCome.get(next.span.of) ?? 0) > 0) continue;
      running.splice(i, 1);
      put('end', next.span, next.end);
      return true;
    }
    return false;
  };
  for (const span of spans) {
    while (endNext(span.start));
    put('begin', span, span.start);
    if (span.end !== undefined) insert(running, { span, end: laterOf(span.end, span.start) });
  }
  while (endNext(undefined));
  return drafts;
}

/** What of a step must come before the end of the one that it is part of; nothing where clocks have it later. */
function holdsUp(step: Step, { end }: Step): Draft['kind'] | undefined {
  if (end === undefined || compareInstants(step.start, end) > 0) return undefined;
  return step.end === undefined || compareInstants(step.end, end) > 0 ? 'begin' : 'end';
}

/** Keeps the list by end, the next one last; inner ones end before outer ones. */
function insert(running: Running[], one: Running): void {
  let low = 0;
  let high = running.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = running[middle];
    if (other !== undefined && endsAfter(other, one)) low = middle + 1;
    else high = middle;
  }
  running.splice(low, 0, one);
}

const endsAfter = (left: Running, right: Running): boolean =>
  (compareInstants(left.end, right.end) ||
    right.span.depth - left.span.depth ||
    left.span.order - right.span.order) > 0;

/**
 * Which state each visit came from. What has been left and led nowhere yet leads to the next one that is entered; of
 * several the fold takes the newest from its entering and the others from their leaving. A visit that begins while
 * another one is open stands beside it and came from where that one came from.
 */
function withTransitions(drafts: readonly Draft[]): readonly Moment[] {
  const fromOf = new Map<Visit, string | undefined>();
  const toOf = new Map<Visit, string>();
  let newest: Visit | undefined;
  /** Left, and led nowhere yet; and whether nothing newer had been entered when it was left. */
  let ended: { readonly visit: Visit; readonly wasNewest: boolean; readonly entered: number }[] = [];
  const enteredAt = new Map<Visit, number>();
  for (const { kind, span } of drafts) {
    const visit = span.of;
    if ('call' in visit) continue;
    if (kind === 'end') {
      ended.push({ visit, wasNewest: newest === visit, entered: enteredAt.get(visit) ?? 0 });
      continue;
    }
    const before = ended.toSorted((left, right) => right.entered - left.entered);
    const [main, ...others] = before;
    fromOf.set(
      visit,
      main === undefined ? (newest === undefined ? undefined : fromOf.get(newest)) : main.visit.state,
    );
    if (main?.wasNewest) toOf.set(main.visit, visit.state);
    for (const other of others) toOf.set(other.visit, visit.state);
    ended = [];
    newest = visit;
    enteredAt.set(visit, enteredAt.size + 1);
  }
  return drafts.map(({ kind, span: { of }, at }): Moment => {
    if ('call' in of) return { kind, step: of, at };
    return kind === 'begin'
      ? { kind: 'enter', visit: of, at, from: fromOf.get(of) }
      : { kind: 'leave', visit: of, at, to: toOf.get(of) };
  });
}

/** Each of the rest after what ended by then, before what begins at that instant. */
function withRest(moments: readonly Moment[], rest: readonly Node[]): readonly Moment[] {
  const tellings = rest
    .map((node): Moment & { readonly kind: 'tell' } => ({
      kind: 'tell',
      node,
      at: laterOf(node.span.end ?? node.start, node.start),
    }))
    .sort(
      (left, right) =>
        compareInstants(left.at, right.at) || (left.node.span.id < right.node.span.id ? -1 : 1),
    );
  const all: Moment[] = [];
  let told = 0;
  for (const moment of moments) {
    const isEnd = moment.kind === 'end' || moment.kind === 'leave';
    for (let next = tellings[told]; next !== undefined; next = tellings[told]) {
      const order = compareInstants(next.at, moment.at);
      if (order > 0 || (order === 0 && isEnd)) break;
      all.push(next);
      told += 1;
    }
    all.push(moment);
  }
  return [...all, ...tellings.slice(told)];
}

/**
 * The newest visit is left when something else begins or ends, not at the end of the last thing in it: more of the same
 * may come, and where it leads to is not known before.
 */
function leftWhenGone(moments: readonly Moment[], hasEnded: boolean): readonly Moment[] {
  const all: Moment[] = [];
  let newest: Visit | undefined;
  let leaving: Moment | undefined;
  for (const moment of moments) {
    if (moment.kind !== 'tell' && leaving !== undefined) {
      all.push(leaving);
      leaving = undefined;
    }
    if (moment.kind === 'enter') newest = moment.visit;
    if (moment.kind === 'leave' && moment.visit === newest) leaving = moment;
    else all.push(moment);
  }
  return leaving !== undefined && hasEnded ? [...all, leaving] : all;
}
