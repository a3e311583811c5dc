import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '@/lib/core/events/ids';
import type { PayloadRef } from '@/lib/core/events/payload';
import { digestOf } from '@/lib/core/events/value-codec';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine } from '@/lib/core/machine/machine';

/*
 * The API as a test speaks it: raw requests, and a worker of a few lines that appends what it is told to.
 */

export const hash = (content: Uint8Array | string) =>
  sha256(createHash('sha256').update(content).digest('hex'));

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // A test reads answers by their documented shape; a wrong one fails its expectation.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

/** Requests to one console, JSON in and out. */
export class ApiClient {
  constructor(
    readonly url: string,
    /** Sent with every request. */
    readonly always: Readonly<Record<string, string>> = {},
  ) {}

  get = (path: string, headers: Record<string, string> = {}) => this.send('GET', path, undefined, headers);
  post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    this.send('POST', path, body, headers);
  put = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    this.send('PUT', path, body, headers);

  async send(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.always,
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body:
              typeof body === 'string' || body instanceof Uint8Array
                ? (body as BodyInit)
                : JSON.stringify(body),
          }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : parsed(text),
    };
  }

  /** Order with a fresh id unless one is given. */
  command = (runId: string, order: Record<string, unknown>) =>
    this.post(`/api/v1/runs/${encodeURIComponent(runId)}/commands`, {
      commandId: randomUUID(),
      reason: 'test',
      ...order,
    });

  plan = (runId: string, ask: Record<string, unknown>) =>
    this.post(`/api/v1/runs/${encodeURIComponent(runId)}/plan`, ask);
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** A refund desk in miniature, with one tool of each effect. */
export const deskMachine: Machine = {
  agent: 'desk',
  provenance: 'declared',
  initial: 'plan',
  states: {
    plan: { transitions: ['refund'], tools: ['lookup'] },
    refund: { transitions: ['close'], tools: ['create_refund', 'blind_refund'] },
    close: { transitions: [], tools: [], final: true },
  },
  tools: {
    lookup: {
      effect: 'read',
      keyed: false,
      verify: false,
      timeoutMs: 1_000,
      settlesWithinMs: 0,
      keyValidForMs: 0,
      retries: 0,
    },
    create_refund: {
      effect: 'external',
      keyed: true,
      verify: true,
      timeoutMs: 200,
      settlesWithinMs: 200,
      keyValidForMs: 3_600_000,
      retries: 0,
    },
    blind_refund: {
      effect: 'external',
      keyed: false,
      verify: false,
      timeoutMs: 200,
      settlesWithinMs: 200,
      keyValidForMs: 3_600_000,
      retries: 0,
    },
  },
};
export const deskDigest = machineDigestOf(deskMachine, hash);

type Event = Record<string, unknown> & { readonly kind: string };
interface Inline {
  readonly sha256: string;
  readonly codec: 'json';
  readonly text: string;
}

/** Holds one run and appends by batches; keeps the payloads that its events will refer to. */
export class TestWorker {
  #batch = 0;
  #payloads: Inline[] = [];
  seen = 0;
  head = 0;

  private constructor(
    readonly api: ApiClient,
    readonly runId: string,
    readonly leaseId: string,
    readonly epoch: number,
    readonly workerId: string,
  ) {}

  static async create(
    api: ApiClient,
    ask: {
      readonly runId?: string;
      readonly workerId?: string;
      readonly input?: unknown;
      readonly tags?: readonly string[];
    } = {},
  ): Promise<TestWorker> {
    await api.put(`/api/v1/machines/${deskDigest}`, deskMachine);
    const workerId = ask.workerId ?? 'w1';
    const created = await api.post('/api/v1/runs', {
      runId: ask.runId ?? `run-${randomUUID()}`,
      workerId,
      agent: 'desk',
      machineDigest: deskDigest,
      input: { value: ask.input ?? { order: 'A-17' } },
      ...(ask.tags === undefined ? {} : { tags: ask.tags }),
    });
    if (created.status !== 201) throw new Error(`not created: ${JSON.stringify(created.body)}`);
    return TestWorker.of(api, created.body, workerId);
  }

  static of(
    api: ApiClient,
    held: {
      readonly runId: string;
      readonly leaseId: string;
      readonly epoch: number;
      readonly headSeq: number;
    },
    workerId: string,
  ): TestWorker {
    const worker = new TestWorker(api, held.runId, held.leaseId, held.epoch, workerId);
    worker.seen = held.headSeq;
    worker.head = held.headSeq;
    return worker;
  }

  get path(): string {
    return `/api/v1/runs/${encodeURIComponent(this.runId)}`;
  }

  /** A value as a payload of the next batch. */
  value(value: unknown): PayloadRef {
    return this.text(JSON.stringify(value));
  }

  text(text: string): PayloadRef {
    const payload = { sha256: hash(text), codec: 'json' as const, text };
    this.#payloads.push(payload);
    return { sha256: payload.sha256, codec: 'json', bytes: Buffer.byteLength(text) };
  }

  /** The next batch as a request body. */
  batch(events: readonly Event[]) {
    const payloads = this.#payloads;
    this.#payloads = [];
    return {
      epoch: this.epoch,
      batch: ++this.#batch,
      seenSeq: this.seen,
      events,
      ...(payloads.length === 0 ? {} : { payloads }),
    };
  }

  async append(...events: readonly Event[]): Promise<Reply> {
    const reply = await this.api.post(`${this.path}/events`, this.batch(events));
    if (reply.status === 200) {
      this.head = reply.body.headSeq;
      this.seen = reply.body.headSeq;
    }
    return reply;
  }

  /** Appends, and fails the test where that is refused. Returns the seq of the first event. */
  async write(...events: readonly Event[]): Promise<number> {
    const reply = await this.append(...events);
    if (reply.status !== 200) throw new Error(`not appended: ${JSON.stringify(reply.body)}`);
    return reply.body.firstSeq;
  }

  heartbeat = () =>
    this.api.post(`/api/v1/leases/${encodeURIComponent(this.leaseId)}/heartbeat`, {
      epoch: this.epoch,
      seenSeq: this.seen,
    });
  release = (outcome: string) =>
    this.api.post(`/api/v1/leases/${encodeURIComponent(this.leaseId)}/release`, {
      epoch: this.epoch,
      outcome,
    });

  enter(state: string, visit = 1, from?: string): Event {
    return {
      kind: 'state.entered',
      key: `${state}#${visit}`,
      state,
      visit,
      ...(from === undefined ? {} : { from }),
    };
  }

  leave(state: string, visit: number, to: string): Event {
    return { kind: 'state.left', key: `${state}#${visit}`, state, visit, to };
  }

  start(stepKey: string, more: Record<string, unknown>, input: unknown = { a: 1 }): Event {
    const text = JSON.stringify(input);
    const name = (stepKey.split('/').at(-1) ?? '').split('#')[0] ?? '';
    return {
      kind: 'step.started',
      stepKey,
      name,
      attempt: 1,
      input: this.text(text),
      inputDigest: digestOf(text, hash),
      ...more,
    };
  }

  read = (stepKey: string, input?: unknown) => this.start(stepKey, { step: 'tool', effect: 'read' }, input);

  /** An external call's intent: verifiable and guarded unless said otherwise. */
  external(stepKey: string, input: unknown = { amount: 148 }, more: Record<string, unknown> = {}): Event {
    const argsDigest = digestOf(JSON.stringify(input), hash);
    const intent = {
      idempotencyKey: hash(`${stepKey} ${argsDigest}`),
      generation: 1,
      argsDigest,
      sendBy: Date.now() + 500,
      timeoutMs: 200,
      settlesWithinMs: 200,
      keyValidForMs: 3_600_000,
      guarded: true,
      verifiable: true,
      ...more,
    };
    return this.start(stepKey, { step: 'tool', effect: 'external', intent }, input);
  }

  done = (stepKey: string, result: unknown = { ok: true }): Event => ({
    kind: 'step.completed',
    stepKey,
    attempt: 1,
    recorded: true,
    result: this.value(result),
  });

  ask(stepKey: string, prompt: unknown = { prompt: 'Refund 148?' }): Event {
    const text = JSON.stringify(prompt);
    return {
      kind: 'question.asked',
      questionId: stepKey,
      stepKey,
      question: this.text(text),
      questionDigest: digestOf(text, hash),
    };
  }
}

/** Claims the next run for a worker that hosts the desk. */
export async function claim(api: ApiClient, more: Record<string, unknown> = {}): Promise<Reply> {
  await api.put(`/api/v1/machines/${deskDigest}`, deskMachine);
  return api.post('/api/v1/workers/claim', {
    claimId: randomUUID(),
    workerId: 'w2',
    agents: [{ name: 'desk', machineDigest: deskDigest }],
    waitMs: 5_000,
    ...more,
  });
}

/** Asks until the condition holds; throws after ten seconds. */
export async function until<Value>(
  ask: () => Promise<Value>,
  holds: (value: Value) => boolean,
): Promise<Value> {
  const end = performance.now() + 10_000;
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    if (performance.now() > end) throw new Error(`the condition never held: ${JSON.stringify(value)}`);
    await pause(20);
  }
}
