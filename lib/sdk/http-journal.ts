import type { MachineDigest, RunId, Seq } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import type { RunEvent } from '../core/events/run-event';
import type { Machine } from '../core/machine/machine';
import type { HttpAnswer, HttpAsk, HttpClient } from './http-client';
import type {
  AboutRun,
  AppendReply,
  Batch,
  Claim,
  Held,
  JournalPort,
  LedgerEntry,
  StateView,
} from './journal-port';
import { type Stored, storedText } from './values';

/** The console refused a request for good: a bug of ours, or a version that does not fit. */
class ConsoleRefused extends Error {
  override readonly name = 'ConsoleRefused';
  constructor(path: string, status: number, problem: Problem) {
    const errors = (problem.errors ?? []).map(({ path: at, message }) => `${at}: ${message}`).join('; ');
    super(`${path}: ${status} ${problem.detail ?? problem.title ?? ''} ${errors}`.trim());
  }
}

interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

const kindOf = (problem: Problem): string => problem.type?.replace('urn:rerail:problem:', '') ?? '';

/** Larger payloads travel by themselves, before the batch that refers to them. */
const INLINE_BYTES = 256_000;
const PAGE = 1_000;
const seg = encodeURIComponent;

/** The journal port over the console's HTTP API, DESIGN §8. */
export class HttpJournal implements JournalPort {
  private readonly client: HttpClient;

  constructor(client: HttpClient) {
    this.client = client;
  }

  async putMachine(digest: MachineDigest, machine: Machine): Promise<void> {
    await this.json({ method: 'PUT', path: `/api/v1/machines/${digest}`, body: JSON.stringify(machine) });
  }

  async create(ask: Parameters<JournalPort['create']>[0]): Promise<Held> {
    const { input, ...rest } = ask;
    if (input !== undefined) await this.putPayload(input);
    const body = { ...rest, ...(input === undefined ? {} : { input: { ref: input.ref } }) };
    const answer = await this.json<Omit<Held, 'runId'> & { readonly runId: RunId }>({
      method: 'POST',
      path: '/api/v1/runs',
      body: JSON.stringify(body),
    });
    return {
      leaseId: answer.leaseId,
      runId: answer.runId,
      epoch: answer.epoch,
      leaseMs: answer.leaseMs,
      headSeq: answer.headSeq,
    };
  }

  async claim(ask: Parameters<JournalPort['claim']>[0], signal: AbortSignal): Promise<Claim | undefined> {
    const path = '/api/v1/workers/claim';
    const answer = await this.client.ask({
      method: 'POST',
      path,
      body: JSON.stringify(ask),
      signal,
      timeoutMs: ask.waitMs + 30_000,
    });
    return answer.status === 204 ? undefined : parsed<Claim>(path, answer);
  }

  async append(runId: RunId, batch: Batch): Promise<AppendReply> {
    const path = `/api/v1/runs/${seg(runId)}/events`;
    for (const payload of batch.payloads)
      if (payload.ref.bytes > INLINE_BYTES) await this.putPayload(payload);
    const inline = batch.payloads.filter(({ ref }) => ref.bytes <= INLINE_BYTES);
    const body = JSON.stringify({
      epoch: batch.epoch,
      batch: batch.batch,
      seenSeq: batch.seenSeq,
      events: batch.events,
      ...(inline.length === 0
        ? {}
        : { payloads: inline.map(({ ref, text }) => ({ sha256: ref.sha256, codec: ref.codec, text })) }),
    });
    const answer = await this.client.ask({ method: 'POST', path, body });
    if (answer.status === 200 || answer.status === 201) {
      const { firstSeq, headSeq, others } = JSON.parse(answer.text) as {
        firstSeq: Seq;
        headSeq: Seq;
        others: readonly RunEvent[];
      };
      return { ok: true, firstSeq, headSeq, others };
    }
    return { ok: false, problem: appendProblem(answer) };
  }

  async heartbeat(held: Held, seenSeq: Seq, signal: AbortSignal) {
    const path = `/api/v1/leases/${seg(held.leaseId)}/heartbeat`;
    const answer = await this.client.ask({
      method: 'POST',
      path,
      body: JSON.stringify({ epoch: held.epoch, seenSeq }),
      signal,
      // A connection that swallows it leaves time for another within the lease.
      timeoutMs: Math.max(1_000, held.leaseMs / 3),
    });
    if (answer.status === 409 || answer.status === 404) return undefined;
    return parsed<{ readonly leaseMs: number; readonly others: readonly RunEvent[] }>(path, answer);
  }

  async release(held: Held, outcome: 'done' | 'waiting' | 'paused' | 'hand-over'): Promise<void> {
    const path = `/api/v1/leases/${seg(held.leaseId)}/release`;
    const answer = await this.client.ask({
      method: 'POST',
      path,
      body: JSON.stringify({ epoch: held.epoch, outcome }),
    });
    // A second attempt finds the lease given back already.
    if (answer.status !== 409 && answer.status !== 404) parsed(path, answer);
  }

  async evidence(runId: RunId, evidence: Parameters<JournalPort['evidence']>[1]): Promise<void> {
    const { result, ...rest } = evidence;
    if (result !== undefined) await this.putPayload(result);
    const body = { ...rest, ...(result === undefined ? {} : { result: { ref: result.ref } }) };
    await this.json({
      method: 'POST',
      path: `/api/v1/runs/${seg(runId)}/evidence`,
      body: JSON.stringify(body),
    });
  }

  async aboutRun(runId: RunId): Promise<AboutRun> {
    const { agent, lineage, line } = await this.json<WireRun>({
      method: 'GET',
      path: `/api/v1/runs/${seg(runId)}`,
    });
    return { agent, root: lineage.root, isFork: lineage.parent?.mode === 'fork', line };
  }

  async state(runId: RunId, at?: Seq): Promise<StateView> {
    const query = at === undefined ? '' : `?at=${at}`;
    const state = await this.json<WireState>({
      method: 'GET',
      path: `/api/v1/runs/${seg(runId)}/state${query}`,
    });
    return {
      seq: state.seq,
      visit: state.visit ?? undefined,
      input: state.input ?? undefined,
      variables: state.variables,
      messageCount: state.messages.count,
      visits: Object.fromEntries(Object.entries(state.visits).map(([name, { count }]) => [name, count])),
      apisDown: downIn(state.apis),
    };
  }

  async events(runId: RunId, after: Seq, upTo: Seq): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = [];
    for (let from = after; from < upTo; ) {
      const query = `after=${from}&before=${upTo + 1}&limit=${PAGE}`;
      const page = await this.json<{ readonly items: readonly RunEvent[] }>({
        method: 'GET',
        path: `/api/v1/runs/${seg(runId)}/events?${query}`,
      });
      events.push(...page.items);
      const last = page.items.at(-1);
      if (last === undefined) break;
      from = last.seq;
    }
    return events;
  }

  async messages(runId: RunId, at: Seq): Promise<readonly PayloadRef[]> {
    const pages: (readonly PayloadRef[])[] = [];
    for (let before: string | undefined = ''; before !== undefined; ) {
      const query = `at=${at}&limit=${PAGE}${before === '' ? '' : `&before=${before}`}`;
      const page: MessagePage = await this.json({
        method: 'GET',
        path: `/api/v1/runs/${seg(runId)}/messages?${query}`,
      });
      pages.unshift(page.items.map(({ message }) => message));
      before = page.nextCursor ?? undefined;
    }
    return pages.flat();
  }

  async ledger(runId: RunId): Promise<readonly LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const query: string = `limit=${PAGE}${cursor === '' ? '' : `&cursor=${seg(cursor)}`}`;
      const page: EffectPage = await this.json({
        method: 'GET',
        path: `/api/v1/runs/${seg(runId)}/effects?${query}`,
      });
      entries.push(...page.items.map(entryOf));
      cursor = page.nextCursor ?? undefined;
    }
    return entries;
  }

  async payload(ref: PayloadRef): Promise<string> {
    const path = `/api/v1/payloads/${ref.sha256}`;
    const answer = await this.client.ask({ method: 'GET', path });
    if (answer.status !== 200) throw refusal(path, answer);
    if (storedText(answer.text).ref.sha256 !== ref.sha256)
      throw new Error(`${path}: the bytes do not have that digest`);
    return answer.text;
  }

  private async putPayload({ ref, text }: Stored): Promise<void> {
    const path = `/api/v1/payloads/${ref.sha256}`;
    const answer = await this.client.ask({ method: 'PUT', path, body: text });
    if (answer.status >= 300) throw refusal(path, answer);
  }

  private async json<Answer = unknown>(ask: HttpAsk): Promise<Answer> {
    return parsed<Answer>(ask.path, await this.client.ask(ask));
  }
}

interface WireRun {
  readonly agent: string;
  readonly lineage: { readonly root: RunId; readonly parent: { readonly mode: string } | null };
  readonly line: number;
}
interface WireState {
  readonly seq: Seq;
  readonly visit: StateView['visit'] | null;
  readonly input: PayloadRef | null;
  readonly variables: Readonly<Record<string, PayloadRef>>;
  readonly messages: { readonly count: number };
  readonly visits: Readonly<Record<string, { readonly count: number }>>;
  readonly apis: Apis;
}
type Apis = Readonly<Record<string, { readonly status: 'ok' | 'unavailable' }>>;

const downIn = (apis: Apis): readonly string[] =>
  Object.keys(apis).filter((api) => apis[api]?.status === 'unavailable');

interface MessagePage {
  readonly items: readonly { readonly message: PayloadRef }[];
  readonly nextCursor: string | null;
}
type WireEffect = Pick<
  LedgerEntry,
  | 'stepKey'
  | 'generation'
  | 'name'
  | 'effect'
  | 'status'
  | 'runId'
  | 'intentSeq'
  | 'idempotencyKey'
  | 'argsDigest'
  | 'attempt'
> & {
  readonly firstIntentAt: string;
  readonly settledAt: string;
  readonly input: PayloadRef | null;
  readonly result: PayloadRef | null;
  readonly receipt: string | null;
};
interface EffectPage {
  readonly items: readonly WireEffect[];
  readonly nextCursor: string | null;
}

const entryOf = (row: WireEffect): LedgerEntry => ({
  stepKey: row.stepKey,
  generation: row.generation,
  name: row.name,
  effect: row.effect,
  status: row.status,
  runId: row.runId,
  intentSeq: row.intentSeq,
  idempotencyKey: row.idempotencyKey,
  argsDigest: row.argsDigest,
  attempt: row.attempt,
  firstIntentAt: Date.parse(row.firstIntentAt),
  askAgainAt: Date.parse(row.settledAt),
  input: row.input ?? undefined,
  result: row.result ?? undefined,
  receipt: row.receipt ?? undefined,
});

function problemIn(answer: HttpAnswer): Problem {
  try {
    return JSON.parse(answer.text) as Problem;
  } catch {
    return { detail: answer.text.slice(0, 500) };
  }
}

const refusal = (path: string, answer: HttpAnswer) =>
  new ConsoleRefused(path, answer.status, problemIn(answer));

function parsed<Answer>(path: string, answer: HttpAnswer): Answer {
  if (answer.status >= 300) throw refusal(path, answer);
  return JSON.parse(answer.text === '' ? 'null' : answer.text) as Answer;
}

function appendProblem(answer: HttpAnswer) {
  const problem = problemIn(answer);
  const kind = kindOf(problem);
  switch (kind) {
    case 'stale-epoch':
    case 'not-held':
    case 'not-found':
      return { kind: 'stale-epoch' } as const;
    case 'unknown-payloads':
      return { kind: 'unknown-payloads' } as const;
    case 'effect-exists': {
      const { stepKey, runId, intentSeq } = problem as Pick<LedgerEntry, 'stepKey' | 'runId' | 'intentSeq'>;
      return { kind: 'effect-exists', stepKey, runId, intentSeq } as const;
    }
    default:
      return {
        kind: 'refused',
        detail: `the journal refused a batch: ${answer.status} ${kind} ${problem.detail ?? ''} ${JSON.stringify(problem.errors ?? '')}`,
      } as const;
  }
}
