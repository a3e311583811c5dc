import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type agentModules, services } from './bundle';
import { ConsoleProcess } from './console-process';
import { Operator } from './operator';
import { Child, killAll } from './processes';
import { type LedgerLine, ledgerLines } from './promises';
import { scratchFolder } from './scratch';

type AgentModule = (typeof agentModules)[number];
type Service = (typeof services)[number];

/** Time-out of tools, and time in which a late call settles. */
const TIMEOUT_MS = 200;
export const CALM_MS = 2_000;

/** Where in its life a worker sends which signal to itself: `append:before#12`. */
export interface Doom {
  readonly at: string;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** A console, the services downstream, and workers on demand: every one a process, all gone afterwards. */
export class Stage {
  readonly operator: Operator;
  /** What workers and operator take for the console's address. */
  address: () => string = () => this.console.url;
  #workers = 0;

  private constructor(
    readonly bundle: string,
    readonly folder: string,
    readonly console: ConsoleProcess,
    readonly services: Readonly<Record<Service, string>>,
  ) {
    this.operator = new Operator(() => this.address());
  }

  static async open(bundle: string): Promise<Stage> {
    const folder = await scratchFolder('stage');
    await writeFile(join(folder, 'ledger.jsonl'), '');
    const console = new ConsoleProcess(bundle, folder);
    const [urls] = await Promise.all([
      Promise.all(services.map((name) => startService(bundle, folder, name))),
      console.start(),
    ]);
    return new Stage(bundle, folder, console, Object.fromEntries(urls) as Record<Service, string>);
  }

  async close(): Promise<void> {
    await killAll();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Every whole line of the downstream ledger so far. */
  async ledger(): Promise<readonly LedgerLine[]> {
    return ledgerLines(await readFile(join(this.folder, 'ledger.jsonl'), 'utf8'));
  }

  /** Trouble on demand, see the demo's services: the next `times` requests whose path holds `match` are answered so. */
  async trouble(service: Service, match: string, answer: number | 'hold', times = 1): Promise<void> {
    await this.#control(service, 'faults', { match, answer, times });
  }

  /** Whoever is held by that trouble is answered now. */
  release(service: Service, match: string): Promise<void> {
    return this.#control(service, 'release', { match });
  }

  async #control(service: Service, what: string, asked: object): Promise<void> {
    const body = JSON.stringify(asked);
    const done = await fetch(`${this.services[service]}/control/${what}`, { method: 'POST', body });
    if (!done.ok) throw new Error(`${service} refuses ${what}: ${done.status}`);
  }

  /**
   * A worker process for a module's agents, which go by each name in `as`; it has shown itself to the console when this
   * resolves. `timeoutMs` of its tools: on two busy cores 200 ms pass now and then without an answer, which is one more
   * way to be in doubt; `CALM_MS` is for what a test tells step by step.
   */
  async worker(
    module: AgentModule,
    as: string | readonly string[],
    doom?: Doom,
    timeoutMs = TIMEOUT_MS,
  ): Promise<Worker> {
    const names = typeof as === 'string' ? [as] : as;
    const workerId = this.#newId(names[0]);
    const child = new Child(workerId, join(this.bundle, 'worker.mjs'), {
      CHAOS_CONSOLE: this.address(),
      CHAOS_WORKER: workerId,
      CHAOS_AGENTS: this.#agents(module, names),
      RERAIL_BATCH: '1',
      RERAIL_DEMO_TIMEOUT_MS: String(timeoutMs),
      RERAIL_DEMO_SETTLES_MS: String(TIMEOUT_MS),
      RERAIL_DEMO_PAYMENTS_URL: this.services.payments,
      RERAIL_DEMO_MAIL_URL: this.services.mail,
      RERAIL_DEMO_SHOP_URL: this.services.shop,
      RERAIL_DEMO_LLM_URL: `${this.services.llm}/v1`,
      ...(doom === undefined ? {} : { CHAOS_AT: doom.at, CHAOS_SIGNAL: doom.signal }),
    });
    await child.take('ready');
    return new Worker(workerId, child);
  }

  /**
   * One more worker inside of the process of `host`, which spares the start of one. Resolves once it has shown itself to
   * the console; what it resolves to ends it.
   */
  async guest(host: Worker, module: AgentModule, as: string): Promise<() => void> {
    const workerId = this.#newId(as);
    host.process.send({ kind: 'host', workerId, agents: this.#agents(module, [as]) });
    await host.process.take(`hosts ${workerId}`);
    return () => host.process.send({ kind: 'leave', workerId });
  }

  #newId(name: string | undefined): string {
    return `${name}-w${++this.#workers}`;
  }

  /** Addresses of the module, one for each name. */
  #agents(module: AgentModule, names: readonly string[]): string {
    const addresses = names.map((name) => {
      const url = new URL(pathToFileURL(join(this.bundle, `${module}.mjs`)));
      url.searchParams.set('as', name);
      return url.href;
    });
    return addresses.join(' ');
  }
}

async function startService(
  bundle: string,
  folder: string,
  name: Service,
): Promise<readonly [Service, string]> {
  const child = new Child(name, join(bundle, `${name}.mjs`), { RERAIL_DEMO_DIR: folder });
  return [name, (await child.take<{ readonly url: string }>('url')).url];
}

export class Worker {
  constructor(
    readonly id: string,
    readonly process: Child,
  ) {}

  /** Starts a run under the id; resolves when the console has it, or the worker is gone. */
  async begin(agent: string, runId: string, input: unknown): Promise<void> {
    this.process.send({ kind: 'start', agent, runId, input });
    await Promise.race([this.process.take('started'), this.process.exited]);
  }

  /** The named points that it passed so far, in order. */
  async points(): Promise<readonly string[]> {
    this.process.send({ kind: 'points' });
    return (await this.process.take<{ readonly passed: readonly string[] }>('passed')).passed;
  }

  async stop(): Promise<void> {
    this.process.send({ kind: 'stop' });
    await this.process.exited;
  }
}
