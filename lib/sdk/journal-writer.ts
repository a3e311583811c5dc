import type { Seq } from '../core/events/ids';
import { epochMs } from '../core/events/ids';
import type { NewEvent, RunEvent } from '../core/events/run-event';
import type { Clock } from './clock';
import type { AppendProblem, Batch, Held, JournalPort } from './journal-port';
import type { Stored } from './values';

/** An event on its way, with the payloads that it brings. */
export interface Draft {
  readonly event: NewEvent;
  readonly payloads?: readonly Stored[];
  /** In one batch with the event before it. */
  readonly joined?: boolean;
  /** A call is out from now on: its input is to be on its way by the next turn, whether or not anything follows. */
  readonly urgent?: boolean;
  /** Told the seq once the event is durable. */
  readonly onPlaced?: (seq: Seq) => void;
}

/** What the writing end needs from the hold that it is part of. */
export interface WriterDeps {
  readonly port: JournalPort;
  readonly held: Held;
  readonly clock: Clock;
  /** Most events in one batch. */
  readonly batchSize: number;
  readonly point: (name: string) => void;
  /** Console events that came back with an answer, ascending, each once. */
  readonly onOthers: (others: readonly RunEvent[]) => void;
  /** Another epoch holds the run, or it has ended: nothing more can be written. */
  readonly onFenced: (why: string) => void;
  /** The home takes none of it, for a reason that the rules do not know; what was not written stays unwritten. */
  readonly onRefused: (why: string) => void;
  /** An intent was refused, since the lineage has the effect already. Its event is not sent again. */
  readonly onEffectExists: (refused: NewEvent) => void;
}

const INLINE_LIMIT = 4_000_000;
/** Most digests that a writer remembers; what it has forgotten is sent again, which changes nothing. */
export const KNOWN_LIMIT = 4_096;

/**
 * The journal's writing end: events are buffered and sent in batches, one on its way at a time, in order. Only
 * `durable` waits. What a turn of the code and the release after it record goes in one batch, so that a step whose next
 * one follows costs one append. While the home cannot be reached the port waits, and everything stays here.
 */
export class JournalWriter {
  private readonly deps: WriterDeps;
  private buffer: Draft[] = [];
  private sending = false;
  private scheduled = false;
  private batch = 0;
  private pushed = 0;
  private acked = 0;
  private seen: Seq;
  private fenced = false;
  private waiters: { readonly count: number; readonly resolve: () => void }[] = [];
  /** Console events above `seen` that a heartbeat brought. */
  private readonly taken = new Set<Seq>();
  /** Digests that the home is known to have, those used last at the end. */
  private readonly known = new Set<string>();

  constructor(deps: WriterDeps) {
    this.deps = deps;
    this.seen = deps.held.headSeq;
  }

  /** Newest seq up to which console events have been seen. */
  get seenSeq(): Seq {
    return this.seen;
  }

  /** True when everything pushed is durable. */
  get idle(): boolean {
    return this.acked === this.pushed;
  }

  push(draft: Draft): void {
    const at = draft.event.at ?? epochMs(this.deps.clock.now());
    this.buffer.push({ ...draft, event: { ...draft.event, at } });
    this.pushed++;
    if (this.sending) return;
    // An outcome is given to the code in the turn after it was recorded, and what the code does then travels with it.
    if (draft.urgent === true) this.flushIn(1);
    else if (!this.scheduled) this.flushIn(2);
  }

  /** Resolves when everything pushed so far is on disk; never, once fenced. Sends at once. */
  durable(): Promise<void> {
    if (this.idle) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiters.push({ count: this.pushed, resolve });
      this.flush();
    });
  }

  /** Console events may come by heartbeat too: each is taken once. */
  sawOthers(others: readonly RunEvent[]): void {
    const fresh = others.filter((event) => event.seq > this.seen && !this.taken.has(event.seq));
    if (fresh.length === 0) return;
    for (const event of fresh) this.taken.add(event.seq);
    this.deps.onOthers(fresh);
  }

  stop(): void {
    this.fenced = true;
  }

  /** Takes the place of the batch that was refused, and of everything behind it. */
  insteadOfAll(drafts: readonly Draft[]): void {
    const at = epochMs(this.deps.clock.now());
    this.buffer = [];
    // Nobody is told that the rest is on disk.
    this.waiters = [];
    this.pushed = this.acked + drafts.length;
    this.sendOn(drafts.map((draft) => ({ ...draft, event: { ...draft.event, at } })));
  }

  private flushIn(turns: number): void {
    this.scheduled = true;
    this.deps.clock.turn(() => {
      if (turns > 1) this.flushIn(turns - 1);
      else this.flush();
    });
  }

  private flush(): void {
    this.scheduled = false;
    if (this.fenced || this.sending || this.buffer.length === 0) return;
    this.sending = true;
    this.batch++;
    this.sendOn(this.cut());
  }

  private sendOn(drafts: readonly Draft[]): void {
    this.send(drafts).catch((error: unknown) => {
      if (!this.fenced) this.refusedForGood(String(error));
    });
  }

  private cut(): readonly Draft[] {
    let end = 0;
    let bytes = 0;
    for (const draft of this.buffer) {
      const size = (draft.payloads ?? []).reduce((sum, { text }) => sum + text.length, 0);
      const full = end >= this.deps.batchSize || (end > 0 && bytes + size > INLINE_LIMIT);
      if (full && draft.joined !== true) break;
      bytes += size;
      end++;
    }
    return this.buffer.splice(0, end);
  }

  private async send(drafts: readonly Draft[]): Promise<void> {
    if (!this.passed('append:before')) return;
    const { epoch, runId } = this.deps.held;
    const sentSeen = this.seen;
    const body: Batch = {
      epoch,
      batch: this.batch,
      seenSeq: sentSeen,
      events: drafts.map((draft) => draft.event),
      payloads: this.payloadsOf(drafts),
    };
    const reply = await this.deps.port.append(runId, body);
    if (this.fenced) return;
    if (!reply.ok) {
      this.refused(reply.problem, drafts);
      return;
    }
    if (!this.passed('append:after')) return;
    this.sending = false;
    this.acked += drafts.length;
    this.remember(drafts);
    drafts.forEach((draft, index) => {
      draft.onPlaced?.((reply.firstSeq + index) as Seq);
    });
    this.sawOthers(reply.others);
    if (reply.headSeq > this.seen) this.seen = reply.headSeq;
    for (const seq of this.taken) if (seq <= this.seen) this.taken.delete(seq);
    this.settleWaiters();
    this.flush();
  }

  private remember(drafts: readonly Draft[]): void {
    const { known } = this;
    for (const { payloads = [] } of drafts) {
      for (const { ref } of payloads) {
        known.delete(ref.sha256);
        known.add(ref.sha256);
      }
    }
    for (const digest of known) {
      if (known.size <= KNOWN_LIMIT) return;
      known.delete(digest);
    }
  }

  private payloadsOf(drafts: readonly Draft[]): readonly Stored[] {
    const bySha = new Map<string, Stored>();
    for (const draft of drafts) {
      for (const stored of draft.payloads ?? []) {
        if (!this.known.has(stored.ref.sha256)) bySha.set(stored.ref.sha256, stored);
      }
    }
    return [...bySha.values()];
  }

  private refused(problem: AppendProblem, drafts: readonly Draft[]): void {
    switch (problem.kind) {
      case 'stale-epoch':
        this.fence('another worker holds the run, or it has ended');
        return;
      case 'unknown-payloads':
        // The home swept or never had what it was thought to have: everything is sent again.
        if (this.known.size === 0) {
          this.refusedForGood('the journal refuses payloads that it was given');
          return;
        }
        this.known.clear();
        this.sendOn(drafts);
        return;
      case 'effect-exists': {
        const refused = drafts.find(
          ({ event }) =>
            event.kind === 'step.started' && event.stepKey === problem.stepKey && event.intent !== undefined,
        );
        if (refused === undefined) {
          this.refusedForGood(`the journal refused an effect that was not sent: ${problem.stepKey}`);
          return;
        }
        // The checkpoint that was saved for it goes with it.
        const before = drafts[drafts.indexOf(refused) - 1];
        const dropped =
          refused.joined === true && before?.event.kind === 'checkpoint.saved'
            ? [before, refused]
            : [refused];
        const rest = drafts.filter((draft) => !dropped.includes(draft));
        this.pushed -= dropped.length;
        this.waiters = this.waiters.map((waiter) => ({ ...waiter, count: waiter.count - dropped.length }));
        this.deps.onEffectExists(refused.event);
        if (rest.length > 0) {
          this.sendOn(rest);
          return;
        }
        this.sending = false;
        this.batch--;
        this.settleWaiters();
        this.flush();
        return;
      }
      case 'refused':
        this.refusedForGood(problem.detail);
    }
  }

  private settleWaiters(): void {
    const ready = this.waiters.filter(({ count }) => count <= this.acked);
    this.waiters = this.waiters.filter(({ count }) => count > this.acked);
    for (const { resolve } of ready) resolve();
  }

  private fence(why: string): void {
    this.fenced = true;
    this.deps.onFenced(why);
  }

  private refusedForGood(why: string): void {
    this.deps.onRefused(why);
  }

  /** False where a test's kill point stopped this worker. */
  private passed(name: string): boolean {
    this.deps.point(name);
    return !this.fenced;
  }
}
