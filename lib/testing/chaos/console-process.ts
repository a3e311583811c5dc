import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from './processes';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the console kills itself: before or after the n-th write statement that its SQLite connection runs once armed. */
export interface KillAt {
  readonly statement: number;
  readonly when: 'before' | 'after';
  /** Counts only statements that begin with the text, from the first one on that writes something of the order. */
  readonly of?: { readonly order: string; readonly text: string };
}

/** A real console in a process of its own over one SQLite file, which outlives it. */
export class ConsoleProcess {
  #child: Child | undefined;
  #port: number | undefined;

  constructor(
    readonly bundle: string,
    /** Folder of the SQLite file. */
    readonly folder: string,
    readonly env: Readonly<Record<string, string>> = {},
  ) {}

  get file(): string {
    return join(this.folder, 'rerail.db');
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get port(): number | undefined {
    return this.#child?.exit === undefined ? this.#port : undefined;
  }

  get child(): Child {
    if (this.#child === undefined) throw new Error('the console was not started');
    return this.#child;
  }

  /** Starts on the same file again, on a free port, and resolves once it answers. */
  async start(): Promise<void> {
    this.#child = new Child('console', join(this.bundle, 'console.mjs'), {
      PORT: '0',
      DATABASE_URL: `file:${this.file}`,
      RERAIL_ROOT: repository,
      RERAIL_LEASE_MS: '1000',
      RERAIL_LOG: 'warn',
      RERAIL_NO_PAGES: '1',
      ...this.env,
    });
    this.#port = Number((await this.#child.wrote(/^rerail: http:\/\/127\.0\.0\.1:(\d+)$/m))[1]);
  }

  /** From now on it counts write statements and sends SIGKILL to itself at the given one. */
  async arm(at: KillAt): Promise<void> {
    this.child.send({ kind: 'arm', ...at });
    await this.child.take('armed');
  }

  /** Lets it live. */
  disarm(): Promise<void> {
    return this.arm({ statement: 0, when: 'before' });
  }

  async kill(): Promise<void> {
    await this.child.kill();
  }
}
