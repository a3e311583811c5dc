import { hostname } from 'node:os';
import { type MachineDigest, type RunId, type Seq, seq } from '../core/events/ids';
import type { RunEvent } from '../core/events/run-event';
import type { Machine } from '../core/machine/machine';
import type { Agent, StartOptions, Worker, WorkerOptions } from './api';
import { type Clock, systemClock } from './clock';
import { agentsOf } from './define-agent';
import { failClaim } from './fail-claim';
import { GivenUp, HttpClient } from './http-client';
import { HttpJournal } from './http-journal';
import type { AboutRun, Claim, Held, JournalPort } from './journal-port';
import { type Instants, instants, keepLease } from './lease';
import { emptyRecord, type LoadedRun, loadCache, loadRun } from './load-run';
import { machineOf } from './machine-of';
import { replayInChild } from './replay-child';
import { RunSession } from './run-session';
import type { SessionOptions } from './session-deps';
import { onSignals } from './signals';
import { isWholeNumber } from './tool';
import { type Stored, store } from './values';
import { verifyClaim } from './verify-claim';
import { emptyView } from './view';

/** An agent as a worker hosts it. */
export interface HostedAgent {
  readonly agent: Agent;
  readonly machine: Machine;
  readonly digest: MachineDigest;
  /** Module that a replay's child process loads. */
  readonly url: string;
}

/** What a worker is made of. */
export interface WorkerDeps {
  readonly port: JournalPort;
  readonly clock: Clock;
  readonly workerId: string;
  readonly agents: readonly HostedAgent[];
  readonly maxRuns: number;
  readonly session: SessionOptions;
  /** How a replay is run; in a child process. */
  readonly replay: typeof replayInChild;
}

const CLAIM_WAIT_MS = 20_000;
/** How long a stopping worker waits for a console that does not answer: well within the ten seconds before a SIGKILL. */
const GIVE_UP_MS = 5_000;
const LOOK_MS = 250;

type ClaimAsk = Parameters<JournalPort['claim']>[0];

/** What holds a run in this process: a session, or a replay's child. */
interface Running {
  readonly ended: Promise<unknown>;
  /** An effect is out whose outcome may still come. */
  isBusy(): boolean;
  handOver(): void;
  /** Lets go of the run without giving it back. */
  abandon(why: string): void;
  kill?(): void;
}

/** Hosts agents: claims runs, executes them, gives them back. */
export class AgentWorker implements Worker {
  readonly workerId: string;
  private readonly deps: WorkerDeps;
  private readonly running = new Set<Running>();
  private readonly stopping = new AbortController();
  /** Stopping has waited long enough for the console. */
  private readonly givenUp = new AbortController();
  private loop: Promise<void> = Promise.resolve();

  constructor(deps: WorkerDeps) {
    this.deps = deps;
    this.workerId = deps.workerId;
  }

  /** Tells the console which machines it has, and begins to claim. */
  async open(): Promise<void> {
    for (const { digest, machine } of this.deps.agents) await this.deps.port.putMachine(digest, machine);
    this.loop = this.claimLoop();
  }

  async start(name: string, options: StartOptions = {}): Promise<{ readonly runId: string }> {
    if (this.stopping.signal.aborted) throw new Error('the worker is stopping');
    const hosted = this.deps.agents.find(({ agent }) => agent.name === name);
    if (hosted === undefined) throw new Error(`this worker has no agent named ${name}`);
    const input = options.input === undefined ? undefined : store(options.input, 'the input');
    const sentAt = instants(this.deps.clock);
    const held = await this.deps.port.create({
      runId: options.runId ?? `run_${this.deps.clock.uuid()}`,
      workerId: this.workerId,
      agent: name,
      machineDigest: hosted.digest,
      input,
      tags: options.tags ?? [],
    });
    this.run(hosted, held, sentAt, freshRun(held, input), held.runId, undefined);
    return { runId: held.runId };
  }

  /**
   * Hands every run over. What has left is awaited up to its time-out; a console that cannot be reached is waited for
   * `GIVE_UP_MS` beyond that, and what it has not acknowledged by then counts as not recorded.
   */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const running of this.running) running.handOver();
    let cancel: () => void = () => undefined;
    // From then on nothing but the console is waited for: of a run, since the last of its calls has landed.
    const idleSince = new Map<Running, number>();
    const since = this.deps.clock.mono();
    const giveUp = () => {
      const now = this.deps.clock.mono();
      if (now - since >= GIVE_UP_MS) this.givenUp.abort();
      for (const running of this.running) {
        if (running.isBusy()) idleSince.set(running, now);
        else if (now - (idleSince.get(running) ?? since) >= GIVE_UP_MS)
          running.abandon('the console could not be reached while the worker stopped');
      }
      cancel = this.deps.clock.after(LOOK_MS, giveUp);
    };
    cancel = this.deps.clock.after(LOOK_MS, giveUp);
    await this.loop;
    // A claim on its way becomes a session, which hands over at once.
    while (this.running.size > 0) await Promise.race([...this.running].map(({ ended }) => ended));
    cancel();
  }

  /** What a stopping worker waits for, as a clause. */
  left(): string {
    const out = [...this.running].filter((running) => running.isBusy()).length;
    return `${this.running.size} held, ${out} of them with a call out whose answer may still come`;
  }

  /** For tests: drops everything, as a killed process would. */
  kill(): void {
    this.givenUp.abort();
    this.stopping.abort();
    for (const running of this.running) running.kill?.();
    this.running.clear();
  }

  private async claimLoop(): Promise<void> {
    const { signal } = this.stopping;
    const stopped = aborted(signal);
    const agents = this.deps.agents.map(({ agent, digest }) => ({ name: agent.name, machineDigest: digest }));
    while (!signal.aborted) {
      if (this.running.size >= this.deps.maxRuns) {
        await Promise.race([...[...this.running].map(({ ended }) => ended), stopped]);
        continue;
      }
      const sentAt = instants(this.deps.clock);
      const ask = { claimId: this.deps.clock.uuid(), workerId: this.workerId, agents, waitMs: CLAIM_WAIT_MS };
      try {
        const claim = await this.deps.port.claim(ask, signal);
        if (claim !== undefined) this.take(claim, sentAt);
      } catch (error) {
        if (signal.aborted) {
          await this.askOnce(ask, sentAt);
          return;
        }
        this.deps.session.warn(`claiming failed: ${String(error)}`);
        await new Promise<void>((resolve) => this.deps.clock.after(1_000, resolve));
      }
    }
  }

  /** The worker stopped listening: had the console granted the claim by then, the same question says so. */
  private async askOnce(ask: ClaimAsk, sentAt: Instants): Promise<void> {
    const { signal } = this.givenUp;
    if (signal.aborted) return;
    try {
      const claim = await this.deps.port.claim({ ...ask, waitMs: 0 }, signal);
      if (claim !== undefined) this.take(claim, sentAt);
    } catch (error) {
      if (!signal.aborted) this.deps.session.warn(`asking about a last claim failed: ${String(error)}`);
    }
  }

  private take(claim: Claim, sentAt: Instants): void {
    let abandon: (why: string) => void = () => undefined;
    const abandoned = new Promise<void>((resolve) => {
      abandon = () => resolve();
    });
    const work = this.carryOut(claim, sentAt).catch((error: unknown) => this.cannotCarryOut(claim, error));
    this.hold({
      ended: Promise.race([work, abandoned]),
      isBusy: () => false,
      handOver: () => undefined,
      abandon,
    });
  }

  private async cannotCarryOut(claim: Claim, error: unknown): Promise<void> {
    const { port, session } = this.deps;
    if (error instanceof GivenUp) return;
    session.warn(`${claim.runId}: ${String(error)}`);
    await failClaim(port, claim, error, session.warn).catch((again: unknown) => {
      if (!(again instanceof GivenUp)) session.warn(`${claim.runId}: ${String(again)}`);
    });
  }

  /** One that comes while the worker stops is to hand over at once. */
  private hold(running: Running): void {
    this.running.add(running);
    if (this.stopping.signal.aborted) running.handOver();
    void running.ended.finally(() => this.running.delete(running));
  }

  private async carryOut(claim: Claim, sentAt: Instants): Promise<void> {
    const { port, clock } = this.deps;
    const about = await port.aboutRun(claim.runId);
    const hosted = this.deps.agents.find(({ agent }) => agent.name === about.agent);
    if (claim.reason === 'verify') {
      await verifyClaim(port, clock, hosted?.agent, claim, this.deps.session.secrets);
      return;
    }
    if (hosted === undefined)
      throw new Error(`claimed a run of ${about.agent}, which this worker does not have`);
    if (claim.reason === 'replay' && claim.command?.parent !== undefined) {
      const { batchSize, graceMs, warn } = this.deps.session;
      const task = {
        kind: 'task' as const,
        url: hosted.url,
        agent: hosted.agent.name,
        claim,
        root: about.root,
        batchSize,
        graceMs,
      };
      this.hold(this.deps.replay(port, task, warn));
      return;
    }
    const heard = new Map<Seq, RunEvent>();
    const [loaded, cache] = await keepLease(
      port,
      clock,
      claim,
      () =>
        Promise.all([
          loadRun(port, claim.runId, claim.headSeq, { fromStart: false }),
          this.cacheFor(claim.runId, about),
        ]),
      (others) => {
        for (const event of others) heard.set(event.seq, event);
      },
    );
    this.run(hosted, claim, sentAt, loaded, about.root, claim, cache, [...heard.values()]);
  }

  /**
   * A fork with edits may use its parent's outcomes at every claim, not its first alone: the order is the fork's first
   * event. A rewind leaves them behind.
   */
  private async cacheFor(runId: RunId, { isFork, line }: AboutRun) {
    const { port } = this.deps;
    const [order] = isFork && line === 0 ? await port.events(runId, seq(0), seq(1)) : [];
    if (order?.kind !== 'command.accepted' || order.parent === undefined) return new Map();
    const { parent, edits = [] } = order;
    return edits.length === 0 ? new Map() : loadCache(port, parent, edits);
  }

  private run(
    hosted: HostedAgent,
    held: Held,
    sentAt: Instants,
    loaded: LoadedRun,
    root: RunId,
    claim: Claim | undefined,
    cache: Awaited<ReturnType<typeof loadCache>> = new Map(),
    heard: readonly RunEvent[] = [],
  ): void {
    const session = new RunSession({
      port: this.deps.port,
      clock: this.deps.clock,
      agent: hosted.agent,
      held,
      sentAt,
      root,
      loaded,
      replayOf: undefined,
      claim,
      cache,
      options: this.deps.session,
    });
    this.hold(session);
    // A pause or a cancel that came while the record was loaded is heard before anything goes live.
    session.heard(heard);
    void session.start();
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** A run that was created a moment ago: nothing is recorded but its start. */
function freshRun(held: Held, input: Stored | undefined): LoadedRun {
  return {
    entry: undefined,
    input,
    view: emptyView(),
    head: {
      seq: held.headSeq,
      visit: undefined,
      input: input?.ref,
      variables: {},
      messageCount: 0,
      visits: {},
      apisDown: [],
    },
    conversation: [],
    record: emptyRecord(),
    texts: new Map(),
  };
}

/**
 * Starts a worker: loads the agents' modules, tells the console, and takes runs from then on. Resolves once the
 * console has heard of it; while it cannot be reached, this waits.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const checked = settingsOf(options);
  const warn = options.onWarning ?? ((warning: string) => void process.stderr.write(`rerail: ${warning}\n`));
  const clock = systemClock;
  const token = options.token ?? process.env['RERAIL_TOKEN'];
  const client = new HttpClient({ base: new URL(options.console), token, clock, warn });
  const worker = new AgentWorker({
    port: new HttpJournal(client),
    clock,
    workerId: options.workerId ?? `${hostname()}-${process.pid}-${clock.uuid().slice(0, 8)}`,
    agents: await hostedAgents(options.agents.map(String)),
    maxRuns: checked.maxRuns,
    replay: replayInChild,
    session: {
      batchSize: checked.batchSize,
      backoff: { baseMs: checked.baseMs, capMs: checked.capMs },
      graceMs: checked.graceMs,
      warn,
      secrets: options.secrets ?? ((name) => process.env[name]),
      onPoint: options.onPoint,
    },
  });
  let noSignals: () => void = () => undefined;
  const stop = async () => {
    try {
      await worker.stop();
    } finally {
      client.close();
      noSignals();
    }
  };
  if (options.handleSignals !== false) noSignals = onSignals({ stop, left: () => worker.left(), say: warn });
  try {
    await worker.open();
  } catch (error) {
    client.close();
    noSignals();
    throw error;
  }
  return { workerId: worker.workerId, start: (agent, asked) => worker.start(agent, asked), stop };
}

/** A worker's numbers; throws one error that names every one that cannot be used. */
function settingsOf(options: WorkerOptions) {
  const fromEnv = process.env['RERAIL_BATCH'];
  const settings = {
    maxRuns: options.maxRuns ?? 64,
    batchSize: options.batchSize ?? (fromEnv === undefined || fromEnv === '' ? 500 : Number(fromEnv)),
    graceMs: options.graceMs ?? 2_000,
    baseMs: options.backoff?.baseMs ?? 1_000,
    capMs: options.backoff?.capMs ?? 10_000,
  };
  const least = { maxRuns: 1, batchSize: 1, graceMs: 0, baseMs: 0, capMs: 0 };
  const wrong = Object.entries(settings).flatMap(([name, value]) => {
    const from = least[name as keyof typeof least];
    return isWholeNumber(value, from) ? [] : [`${name} must be a whole number from ${from}, not ${value}`];
  });
  if (settings.batchSize > LARGEST_BATCH) wrong.push(`batchSize must be at most ${LARGEST_BATCH}`);
  if (wrong.length > 0) throw new TypeError(`startWorker: ${wrong.join('; ')}`);
  return settings;
}

/** Most events that the console takes in one batch. */
const LARGEST_BATCH = 10_000;

async function hostedAgents(urls: readonly string[]): Promise<readonly HostedAgent[]> {
  const hosted: HostedAgent[] = [];
  for (const url of urls) {
    const module = (await import(/* @vite-ignore */ url)) as Readonly<Record<string, unknown>>;
    const agents = agentsOf(module, url);
    if (agents.length === 0) throw new TypeError(`${url} exports no agent`);
    for (const agent of agents) {
      if (hosted.some((known) => known.agent.name === agent.name))
        throw new TypeError(`two agents are named ${agent.name}`);
      hosted.push({ agent, url, ...machineOf(agent) });
    }
  }
  return hosted;
}
