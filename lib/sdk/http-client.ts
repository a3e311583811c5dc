import http from 'node:http';
import https from 'node:https';
import type { Clock } from './clock';

/** An answer of the console, its body read. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Where the console is, and how to speak to it. */
export interface HttpClientOptions {
  readonly base: URL;
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly warn: (warning: string) => void;
}

/** One request; whoever answers must take it twice without harm. */
export interface HttpAsk {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** How long the console may take. Default 30,000. */
  readonly timeoutMs?: number;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** Asking the console was given up, because the worker stops. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/**
 * Talks to the console over kept-alive connections. While it cannot be reached, or answers that it failed or is busy,
 * the same request is made again: every call that changes something there is safe to repeat.
 */
export class HttpClient {
  private readonly options: HttpClientOptions;
  private readonly agent: http.Agent;
  private readonly given = new AbortController();
  private unreachable = false;

  constructor(options: HttpClientOptions) {
    this.options = options;
    const settings = { keepAlive: true, maxSockets: 64, scheduling: 'lifo' } as const;
    this.agent = options.base.protocol === 'https:' ? new https.Agent(settings) : new http.Agent(settings);
  }

  /** Ends every connection; calls under way are given up. */
  close(): void {
    this.given.abort();
    this.agent.destroy();
  }

  async ask(ask: HttpAsk): Promise<HttpAnswer> {
    const signal =
      ask.signal === undefined ? this.given.signal : AbortSignal.any([this.given.signal, ask.signal]);
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      if (signal.aborted) throw new GivenUp('the worker stops');
      const answer = await this.once(ask, signal).catch((error: unknown) => String(error));
      if (signal.aborted) throw new GivenUp('the worker stops');
      if (
        typeof answer !== 'string' &&
        answer.status < 500 &&
        answer.status !== 429 &&
        answer.status !== 408
      ) {
        if (this.unreachable) this.options.warn(`the console at ${this.options.base.origin} answers again`);
        this.unreachable = false;
        return answer;
      }
      if (!this.unreachable) {
        this.unreachable = true;
        const why = typeof answer === 'string' ? answer : `it answered ${answer.status}`;
        this.options.warn(
          `the console at ${this.options.base.origin} cannot be reached (${why}); trying again until it can`,
        );
      }
      await this.pause(pause * (0.5 + this.options.clock.random() / 2), signal);
    }
  }

  private pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.options.clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  private once(ask: HttpAsk, signal: AbortSignal): Promise<HttpAnswer> {
    const { base, token } = this.options;
    const body = ask.body === undefined ? undefined : Buffer.from(ask.body);
    return new Promise((resolve, reject) => {
      const request = (base.protocol === 'https:' ? https : http).request(
        new URL(ask.path, base),
        {
          method: ask.method,
          agent: this.agent,
          signal,
          timeout: ask.timeoutMs ?? 30_000,
          headers: {
            accept: 'application/json',
            ...(body === undefined
              ? {}
              : { 'content-type': ask.contentType ?? 'application/json', 'content-length': body.length }),
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
          );
          response.on('error', reject);
          response.on('aborted', () => reject(new Error('the answer was cut off')));
        },
      );
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', reject);
      request.end(body);
    });
  }
}
