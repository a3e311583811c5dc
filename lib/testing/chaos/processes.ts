import { type ChildProcess, execFile, fork } from 'node:child_process';
import { promisify } from 'node:util';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const living = new Set<Child>();

/** A real process of ours, addressed by its own id and by nothing else. */
export class Child {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcess;
  readonly #inbox: unknown[] = [];
  readonly #listeners = new Set<() => void>();
  #exit: Exit | undefined;
  #output = '';

  /** `entry` is a compiled module; what it writes to its error output is kept for messages. */
  constructor(
    readonly name: string,
    entry: string,
    env: Readonly<Record<string, string>>,
  ) {
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(
        ([key]) => !/^(RERAIL_|VITEST|CHAOS_|DATABASE_URL|REDIS_URL|NODE_OPTIONS)/.test(key),
      ),
    );
    this.#process = fork(entry, [], {
      env: { ...inherited, ...env } as NodeJS.ProcessEnv,
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    if (this.#process.pid === undefined) throw new Error(`${name} did not start: ${entry}`);
    this.pid = this.#process.pid;
    living.add(this);
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-8_000);
        for (const listener of this.#listeners) listener();
      });
    }
    this.#process.on('message', (message) => {
      this.#inbox.push(message);
      for (const listener of this.#listeners) listener();
    });
    this.exited = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.#exit = { code, signal };
        living.delete(this);
        for (const listener of this.#listeners) listener();
        resolve(this.#exit);
      });
    });
    // A child that is killed while it is written to.
    this.#process.on('error', () => undefined);
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** The end of what it wrote to its outputs. */
  get output(): string {
    return this.#output;
  }

  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  /** First message with that member, taken out of the inbox; fails when the process ends first. */
  async take<Message>(member: string, withinMs = 20_000): Promise<Message> {
    const found = await this.#wait(withinMs, () => {
      const at = this.#inbox.findIndex(
        (message) => typeof message === 'object' && message !== null && member in message,
      );
      if (at >= 0) return { message: this.#inbox.splice(at, 1)[0] as Message };
      return this.#exit === undefined ? undefined : { exit: this.#exit };
    });
    if (found !== undefined && 'message' in found) return found.message;
    throw new Error(
      `${this.name} sent no ${member} (${JSON.stringify(found?.exit ?? 'still running')})\n${this.#output}`,
    );
  }

  /** First match in what it wrote; fails when the process ends first. */
  async wrote(pattern: RegExp, withinMs = 30_000): Promise<RegExpExecArray> {
    const found = await this.#wait(
      withinMs,
      () => pattern.exec(this.#output) ?? (this.#exit === undefined ? undefined : 'gone'),
    );
    if (found === undefined || found === 'gone')
      throw new Error(`${this.name} did not write ${pattern}\n${this.#output}`);
    return found;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    if (this.#exit !== undefined) return;
    this.#process.kill('SIGKILL');
    await this.exited;
  }

  #wait<Value>(withinMs: number, probe: () => Value | undefined): Promise<Value | undefined> {
    return new Promise((resolve) => {
      const look = () => {
        const value = probe();
        if (value === undefined) return;
        finish(value);
      };
      const finish = (value: Value | undefined) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        resolve(value);
      };
      const timer = setTimeout(() => finish(undefined), withinMs);
      this.#listeners.add(look);
      look();
    });
  }
}

/** Kills what this test file started and has not ended. */
export async function killAll(): Promise<void> {
  await Promise.all([...living].map((child) => child.kill()));
}

/** True once the process is stopped by a signal (state T), as its scheduler says. */
export async function isFrozen(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)]);
  return stdout.trim().startsWith('T');
}

/** Often enough to lose little time, seldom enough that a dozen askers do not keep the console busy. */
const ASK_AGAIN_MS = 100;

/** Waits for a condition: asks again and again until it holds. `worthAsking` holds back what is known to be in vain. */
export async function until<Value>(
  what: string,
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  withinMs = 20_000,
  worthAsking?: () => Promise<void>,
): Promise<Value> {
  const giveUp = Date.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > giveUp) throw new Error(`not within ${withinMs} ms: ${what}`);
    await worthAsking?.();
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

/** Works through `items`, `width` at a time, in order of their start. */
export async function overlapped<Item, Value>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const done: Value[] = [];
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < items.length; at = next++) done[at] = await work(items[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return done;
}
