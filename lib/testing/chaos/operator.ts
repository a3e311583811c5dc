import { randomUUID } from 'node:crypto';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { EffectRow, PlanAnswer, RunSummary } from '@/lib/wire/v1/runs';
import { until } from './processes';
import { Rests } from './rests';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Items<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly nextCursor: string | null;
}

/** A plan that was accepted, with the order that it was given for. */
export interface Order {
  readonly commandId: string;
  readonly plan: PlanAnswer;
}

/**
 * What the console may say to a person who acts on a run that goes on meanwhile. Everything else that is no success is
 * an error of the console's, and fails the test.
 */
const EXPECTED_REFUSALS: ReadonlySet<string> = new Set([
  'held',
  'stale-plan',
  'blocked',
  'moved',
  'not-possible',
  'not-in-doubt',
  'already-answered',
]);

/** A person with nothing but the HTTP API. */
export class Operator {
  /** With patience, a request that the console did not answer is sent again, as it was, until it is back. */
  patient = false;

  /** For messages: what the console would not do when it was asked last. */
  lastRefusal = '';

  /** Refusals by kind. */
  readonly refusals = new Map<string, number>();

  /** Runs that a time-out had ended and that were ordered to go on. */
  timeouts = 0;

  readonly #rests: Rests;

  constructor(readonly base: () => string) {
    this.#rests = new Rests(base);
  }

  /** The console's answer. */
  call(method: string, path: string, body?: unknown): Promise<Answer> {
    if (!this.patient) return this.#once(method, path, body);
    return until(`${method} ${path} is answered`, () =>
      this.#once(method, path, body).catch(() => undefined),
    );
  }

  async #once(method: string, path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${this.base()}/api/v1${path}`, {
      method,
      ...(body === undefined
        ? {}
        : {
            headers: { 'content-type': 'application/json' },
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Body of a 200 answer; anything else is an error that shows the problem. */
  async get<Body>(path: string): Promise<Body> {
    const { status, body } = await this.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body as Body;
  }

  run(runId: string): Promise<RunSummary> {
    return this.get<RunSummary>(`/runs/${encodeURIComponent(runId)}`);
  }

  /** The summary, or undefined while there is no such run. */
  async runIfAny(runId: string): Promise<RunSummary | undefined> {
    const { status, body } = await this.call('GET', `/runs/${encodeURIComponent(runId)}`);
    return status === 200 ? (body as RunSummary) : undefined;
  }

  /** The whole journal, page after page. */
  async events(runId: string): Promise<readonly RunEvent[]> {
    const all: RunEvent[] = [];
    for (;;) {
      const after = all.at(-1)?.seq ?? 0;
      const page = await this.get<Items<RunEvent>>(
        `/runs/${encodeURIComponent(runId)}/events?after=${after}&limit=1000`,
      );
      all.push(...page.items);
      if (page.items.length === 0 || all.length >= page.total) return all;
    }
  }

  async effects(runId: string): Promise<readonly EffectRow[]> {
    return (await this.get<Items<EffectRow>>(`/runs/${encodeURIComponent(runId)}/effects`)).items;
  }

  plan(runId: string, ask: object = {}): Promise<Answer> {
    return this.call('POST', `/runs/${encodeURIComponent(runId)}/plan`, {
      mode: 'resume',
      from: 'latest',
      ...ask,
    });
  }

  command(runId: string, order: object): Promise<Answer> {
    return this.call('POST', `/runs/${encodeURIComponent(runId)}/commands`, {
      commandId: randomUUID(),
      reason: 'chaos',
      ...order,
    });
  }

  /** Waits until the run's worker is known to be lost. */
  async interrupted(runId: string): Promise<RunSummary> {
    return until(`${runId} is interrupted`, async () => {
      const run = await this.run(runId);
      return run.status === 'interrupted' ? run : undefined;
    });
  }

  /** Asks the probe about everything in doubt, each at the time from which its answer is definite. */
  async verifyAll(runId: string): Promise<void> {
    for (;;) {
      const doubtful = (await this.effects(runId)).find((row) => row.status === 'in-doubt');
      if (doubtful === undefined) return;
      const askAgainAt = doubtful.askAgainAt === null ? 0 : Date.parse(doubtful.askAgainAt);
      await until(`askAgainAt of ${doubtful.stepKey}`, () => Date.now() > askAgainAt);
      const given = await this.command(runId, { mode: 'verify', stepKey: doubtful.stepKey });
      // Its worker came back and knows by itself.
      if (given.status !== 202) return this.#refused('verify', given);
      const { commandId } = given.body as { readonly commandId: string };
      await until(`verify of ${doubtful.stepKey} in ${runId}`, async () => {
        const events = await this.events(runId);
        return events.some(
          (event) =>
            (event.kind === 'effect.verified' || event.kind === 'command.ended') &&
            event.commandId === commandId,
        );
      });
    }
  }

  /**
   * Plans and orders a resume; plans again when the plan went stale in between. Undefined where it is refused, as it is
   * when a worker holds the run after all: on a busy machine a heartbeat can be late and the worker well.
   */
  async resume(runId: string): Promise<Order | undefined> {
    for (;;) {
      const planned = await this.plan(runId);
      if (planned.status !== 200) return this.#refused('plan', planned);
      const plan = planned.body as PlanAnswer;
      const given = await this.command(runId, { mode: 'resume', from: 'latest', planDigest: plan.digest });
      if (given.status === 202)
        return { commandId: (given.body as { readonly commandId: string }).commandId, plan };
      this.#refused('resume', given);
      if (problemOf(given) !== 'stale-plan') return undefined;
    }
  }

  #refused(what: string, answer: Answer): undefined {
    const { detail } = (answer.body ?? {}) as { readonly detail?: string };
    const kind = problemOf(answer) ?? 'without a type';
    this.lastRefusal = `${what}: ${answer.status} ${kind}: ${detail}`;
    if ((answer.status !== 409 && answer.status !== 422) || !EXPECTED_REFUSALS.has(kind))
      throw new Error(`an unexpected refusal: ${this.lastRefusal}`);
    const counted = `${what} ${kind}`;
    this.refusals.set(counted, (this.refusals.get(counted) ?? 0) + 1);
  }

  /** How often the console refused, by order and kind, for the line that a test prints. */
  refusalsText(): string {
    const counts = [...this.refusals].sort(([, a], [, b]) => b - a).map(([kind, n]) => `${kind} ${n}`);
    return counts.length === 0 ? 'none' : counts.join(', ');
  }

  /** What a person does with a run until it is over. Returns the orders that it took. */
  async bringHome(runId: string, withinMs = 120_000): Promise<readonly Order[]> {
    const orders: Order[] = [];
    const isOver = async () => {
      const run = await this.run(runId);
      if (run.status === 'paused') throw new Error(`${runId} paused, before ${run.pausedBefore}`);
      if (run.status === 'failed' && !isTimeout(run))
        throw new Error(`${runId} failed: ${JSON.stringify(run.failure)}`);
      if (run.status === 'waiting' || run.status === 'interrupted' || run.status === 'failed') {
        if (run.status === 'failed') this.timeouts += 1;
        const order = await this.#attend(run);
        if (order !== undefined) orders.push(order);
      }
      return run.status === 'completed';
    };
    await until(`${runId} is over`, isOver, withinMs, () => this.#rests.rest(runId));
    return orders;
  }

  /** One look at a run that stopped: asks the probes, answers the questions, else orders it to go on. */
  async #attend(run: RunSummary): Promise<Order | undefined> {
    if (run.effectsInDoubt > 0) await this.verifyAll(run.id);
    for (const { questionId, questionDigest } of run.questions) {
      const value = { approved: true };
      const given = await this.command(run.id, { mode: 'answer', questionId, questionDigest, value });
      if (given.status !== 202) this.#refused('answer', given);
    }
    if (run.questions.length > 0) return undefined;
    // As on the page: while a worker holds the run there is nothing to press.
    const { pending, actions } = await this.run(run.id);
    return pending === null && actions.resume.possible ? this.resume(run.id) : undefined;
  }
}

/** A time-out is never a permanent failure: the run goes on from there once it is told to. */
const isTimeout = ({ failure }: RunSummary): boolean =>
  failure?.cause === 'error' && failure.stepKey !== null && failure.error.type === 'TimeoutError';

/** The kind of a refusal, from its problem type. */
const problemOf = ({ body }: Answer): string | undefined => {
  const { type } = (body ?? {}) as { readonly type?: string };
  return type?.split(':').at(-1);
};
