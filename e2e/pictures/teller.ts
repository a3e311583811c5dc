import { digestOf } from '../../lib/core/events/value-codec';
import { machineDigestOf } from '../../lib/core/machine/drift';
import type { Machine } from '../../lib/core/machine/machine';
import { type ApiClient, hash } from '../../lib/testing/api-client';

type Event = Readonly<Record<string, unknown>> & { readonly kind: string };
interface Lease {
  readonly runId: string;
  readonly leaseId: string;
  readonly epoch: number;
  readonly headSeq: number;
}

/** The console whose runs are told, and its clock. */
export interface Stage {
  /** As the workers' program. */
  readonly api: ApiClient;
  /** As the operator. */
  readonly ada: ApiClient;
  /** Sets the console's clock, epoch ms. */
  readonly setClock: (now: number) => Promise<void>;
}

/**
 * A worker that tells a run as it is written down: moment by moment, with the console's clock going along.
 */
export class Teller {
  #events: { readonly at: number; readonly event: Event }[] = [];
  #payloads = new Map<string, { readonly sha256: string; readonly codec: 'json'; readonly text: string }>();
  #batch = 0;
  #seen: number;
  #visit: { readonly state: string; readonly visit: number } | undefined;
  #visits = new Map<string, number>();
  #messages = 0;
  #counts = new Map<string, number>();

  private constructor(
    readonly stage: Stage,
    readonly machine: Machine,
    readonly workerId: string,
    readonly lease: Lease,
    /** Of the next event, epoch ms. */
    public at: number,
  ) {
    this.#seen = lease.headSeq;
  }

  static async begin(
    stage: Stage,
    ask: {
      readonly runId: string;
      readonly machine: Machine;
      readonly workerId: string;
      readonly at: number;
      readonly input: unknown;
      readonly tags: readonly string[];
    },
  ): Promise<Teller> {
    await stage.setClock(ask.at);
    const digest = machineDigestOf(ask.machine, hash);
    await must(stage.api.put(`/api/v1/machines/${digest}`, ask.machine));
    const { runId, workerId, tags } = ask;
    const lease = await must<Lease>(
      stage.api.post('/api/v1/runs', {
        runId,
        workerId,
        agent: ask.machine.agent,
        machineDigest: digest,
        input: { value: ask.input },
        tags,
      }),
    );
    return new Teller(stage, ask.machine, workerId, lease, ask.at);
  }

  /** Takes up a run that was queued: `runId`, where that is the only one of its agent. */
  static async take(
    stage: Stage,
    ask: {
      readonly runId: string;
      readonly machine: Machine;
      readonly workerId: string;
      readonly at: number;
    },
  ): Promise<Teller> {
    const { runId, machine, workerId, at } = ask;
    await stage.setClock(at);
    const lease = await must<Lease>(
      stage.api.post('/api/v1/workers/claim', {
        claimId: `${workerId} takes ${runId}`,
        workerId,
        agents: [{ name: machine.agent, machineDigest: machineDigestOf(machine, hash) }],
        waitMs: 5_000,
      }),
    );
    if (lease.runId !== runId) throw new Error(`${workerId} was given ${lease.runId} instead of ${runId}`);
    return new Teller(stage, machine, workerId, lease, at);
  }

  /** Takes the run up again, as another worker does after a question was answered; keys count on. */
  async again(workerId: string, at: number): Promise<Teller> {
    const next = await Teller.take(this.stage, {
      runId: this.lease.runId,
      machine: this.machine,
      workerId,
      at,
    });
    next.#visit = this.#visit;
    next.#visits = this.#visits;
    next.#counts = this.#counts;
    next.#messages = this.#messages;
    return next;
  }

  wait(ms: number): this {
    this.at += ms;
    return this;
  }

  put(value: unknown) {
    const text = JSON.stringify(value);
    const sha256 = hash(text);
    this.#payloads.set(sha256, { sha256, codec: 'json', text });
    return { sha256, codec: 'json', bytes: Buffer.byteLength(text) };
  }

  /** An event at the present time. */
  say(event: Event): this {
    this.#events.push({ at: this.at, event });
    return this;
  }

  enter(state: string, condition?: string): this {
    const from = this.#visit;
    if (from !== undefined) {
      this.say({
        kind: 'state.left',
        key: `${from.state}#${from.visit}`,
        ...from,
        to: state,
        ...(condition === undefined ? {} : { condition }),
      });
    }
    const visit = (this.#visits.get(state) ?? 0) + 1;
    this.#visits.set(state, visit);
    this.#visit = { state, visit };
    return this.say({
      kind: 'state.entered',
      key: `${state}#${visit}`,
      state,
      visit,
      ...(from === undefined ? {} : { from: from.state }),
    });
  }

  get scope(): string {
    return `${this.#visit?.state}#${this.#visit?.visit}`;
  }

  #key(name: string): string {
    const counted = `${this.scope}/${name}`;
    const n = (this.#counts.get(counted) ?? 0) + 1;
    this.#counts.set(counted, n);
    return `${counted}#${n}`;
  }

  set(values: Readonly<Record<string, unknown>>): this {
    return this.say({
      kind: 'variables.patched',
      key: this.#key('$set'),
      patch: Object.entries(values).map(([name, value]) => ({
        op: 'add',
        path: `/${name}`,
        value: this.put(value),
      })),
    });
  }

  message(role: string, content: string): this {
    this.#messages += 1;
    const message = this.put({ role, content });
    return this.say({ kind: 'message.appended', key: this.#key('$msg'), role, message });
  }

  /** The call of a step as it is written down before it leaves; its key. */
  start(name: string, step: string, input: unknown, more: Readonly<Record<string, unknown>> = {}): string {
    const stepKey = this.#key(name);
    this.#started(stepKey, name, step, input, 1, more);
    return stepKey;
  }

  #started(
    stepKey: string,
    name: string,
    step: string,
    input: unknown,
    attempt: number,
    more: Readonly<Record<string, unknown>>,
  ): void {
    const inputDigest = digestOf(JSON.stringify(input), hash);
    this.say({
      kind: 'step.started',
      stepKey,
      name,
      step,
      attempt,
      input: this.put(input),
      inputDigest,
      ...more,
    });
  }

  done(stepKey: string, ms: number, result: unknown, more: Readonly<Record<string, unknown>> = {}): this {
    const attempt = 1;
    this.wait(ms).say({
      kind: 'step.completed',
      stepKey,
      attempt,
      recorded: true,
      result: this.put(result),
      ...more,
    });
    return this;
  }

  /** A step that is answered from the record of another run. */
  reused(name: string, step: string, effect: string, input: unknown, result: unknown): this {
    return this.say({
      kind: 'step.reused',
      stepKey: this.#key(name),
      name,
      step,
      effect,
      input: this.put(input),
      inputDigest: digestOf(JSON.stringify(input), hash),
      result: this.put(result),
    });
  }

  /** A pure step: `compute`, or a `condition` whose outcome is its result. */
  pure(step: 'compute' | 'condition', name: string, result: unknown, ms = 1): this {
    return this.done(this.start(name, step, {}, { effect: 'pure' }), ms, result);
  }

  read(step: 'tool' | 'retrieval', name: string, input: unknown, result: unknown, ms: number): this {
    return this.done(this.start(name, step, input, { effect: 'read', api: name }), ms, result);
  }

  /** A read whose first attempt times out. */
  readAgain(name: string, input: unknown, result: unknown, timeoutMs: number, ms: number): this {
    const more = { effect: 'read', api: name };
    const stepKey = this.start(name, 'tool', input, more);
    this.#failed(stepKey, timeoutMs, 'timeout', `no answer within ${timeoutMs} ms`);
    this.#started(stepKey, name, 'tool', input, 2, more);
    return this.done(stepKey, ms, result, { attempt: 2 });
  }

  #failed(stepKey: string, ms: number, failure: string, message: string): void {
    const error = { type: failure, message };
    this.wait(ms).say({
      kind: 'step.failed',
      stepKey,
      attempt: 1,
      failure,
      error,
      final: false,
      nextDelayMs: 1_000,
    });
    this.wait(1_000);
  }

  /** A model call over the conversation so far; its reply is appended to it. */
  llm(name: string, reply: string, ms: number, tokens: readonly [number, number], cost: number): this {
    const stepKey = this.start(
      name,
      'llm',
      { messages: [], temperature: 0, seed: 7 },
      {
        effect: 'read',
        api: 'atlas',
        model: 'atlas-large',
        parameters: { temperature: 0, seed: 7 },
        conversation: this.#messages,
      },
    );
    const usage = { inputTokens: tokens[0], outputTokens: tokens[1], costMicroUsd: cost };
    const message = this.put({ role: 'assistant', content: reply });
    this.done(stepKey, ms, { finish_reason: 'stop' }, { message, usage });
    return this.message('assistant', reply);
  }

  /** The intent of an effect, on disk before the call leaves; its key. */
  intend(name: string, effect: 'idempotent' | 'external', input: unknown): string {
    const tool = this.machine.tools[name];
    if (tool === undefined) throw new Error(`${this.machine.agent} declares no tool ${name}`);
    const argsDigest = digestOf(JSON.stringify(input), hash);
    const intent = {
      idempotencyKey: `rr_${hash(`${this.lease.runId} ${this.scope} ${name}`).slice(0, 40)}`,
      generation: 1,
      argsDigest,
      sendBy: this.at + 10_000,
      timeoutMs: tool.timeoutMs,
      settlesWithinMs: tool.settlesWithinMs,
      keyValidForMs: tool.keyValidForMs,
      guarded: tool.keyed,
      verifiable: tool.verify,
    };
    return this.start(name, 'tool', input, { effect, intent, api: name });
  }

  effect(
    name: string,
    effect: 'idempotent' | 'external',
    input: unknown,
    result: unknown,
    receipt: string,
    ms: number,
  ): this {
    return this.done(this.intend(name, effect, input), ms, result, { receipt });
  }

  checkpoint(name: string, trigger = 'every-n-steps'): this {
    return this.say({
      kind: 'checkpoint.saved',
      trigger,
      visit: this.scope,
      name,
      entrySeq: 0,
      othersSeq: 0,
    });
  }

  /** Asks a person and lets the run go until the answer is there; the question's id. */
  async ask(name: string, question: unknown, until?: number): Promise<string> {
    const stepKey = this.start(name, 'human', question);
    const text = JSON.stringify(question);
    const questionId = stepKey;
    const deadline = until === undefined ? {} : { until };
    this.say({
      kind: 'question.asked',
      questionId,
      stepKey,
      question: this.put(question),
      questionDigest: digestOf(text, hash),
      ...deadline,
    });
    this.say({ kind: 'run.waiting', on: [{ stepKey, for: 'question', ...deadline }] });
    await this.flush();
    await this.release('waiting');
    return questionId;
  }

  /** Writes what was said, with the console's clock at each moment of it: what shares a moment goes in one batch. */
  async flush(): Promise<this> {
    const said = this.#events;
    this.#events = [];
    while (said.length > 0) {
      const at = said[0]?.at ?? this.at;
      const later = said.findIndex((event) => event.at !== at);
      const moment = said.splice(0, later === -1 ? said.length : later);
      await this.stage.setClock(at);
      await this.#heartbeat();
      await this.#append(moment.map(({ event }) => event));
    }
    return this;
  }

  async #heartbeat(): Promise<void> {
    const { epoch, leaseId } = this.lease;
    await must(this.stage.api.post(`/api/v1/leases/${leaseId}/heartbeat`, { epoch, seenSeq: this.#seen }));
  }

  async #append(events: readonly Event[]): Promise<void> {
    const payloads = [...this.#payloads.values()];
    this.#payloads.clear();
    const { headSeq } = await must<{ readonly headSeq: number }>(
      this.stage.api.post(`/api/v1/runs/${this.lease.runId}/events`, {
        epoch: this.lease.epoch,
        batch: ++this.#batch,
        seenSeq: this.#seen,
        events,
        ...(payloads.length === 0 ? {} : { payloads }),
      }),
    );
    this.#seen = headSeq;
  }

  async release(outcome: 'done' | 'waiting' | 'paused'): Promise<void> {
    const { epoch, leaseId } = this.lease;
    await must(this.stage.api.post(`/api/v1/leases/${leaseId}/release`, { epoch, outcome }));
  }

  async complete(): Promise<void> {
    const from = this.#visit;
    if (from !== undefined) this.say({ kind: 'run.completed', result: this.put({ state: from.state }) });
    await this.flush();
    await this.release('done');
  }

  async fail(message: string, stepKey?: string): Promise<void> {
    const error = { type: 'Error', message };
    this.say({ kind: 'run.failed', cause: 'error', error, ...(stepKey === undefined ? {} : { stepKey }) });
    await this.flush();
    await this.release('done');
  }

  /** A step that failed for good. */
  failed(stepKey: string, ms: number, failure: string, message: string): this {
    return this.wait(ms).say({
      kind: 'step.failed',
      stepKey,
      attempt: 1,
      failure,
      error: { type: 'FetchError', message },
      final: true,
    });
  }
}

/** A worker that hosts the machine as it is declared there, and has nothing to do. */
export async function hosts({ api }: Pick<Stage, 'api'>, workerId: string, machine: Machine): Promise<void> {
  const machineDigest = machineDigestOf(machine, hash);
  await must(api.put(`/api/v1/machines/${machineDigest}`, machine));
  const { status } = await api.post('/api/v1/workers/claim', {
    claimId: `${workerId} looks for ${machineDigest}`,
    workerId,
    agents: [{ name: machine.agent, machineDigest }],
    waitMs: 0,
  });
  if (status !== 204) throw new Error(`${workerId} was given work`);
}

export async function must<Body>(
  reply: Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<Body> {
  const { status, body } = await reply;
  if (status >= 300) throw new Error(`the console answered ${status}: ${JSON.stringify(body)}`);
  return body as Body;
}
