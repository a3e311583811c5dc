import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
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
  private readonly send: typeof http.request;
  private readonly host: Pick<http.RequestOptions, 'protocol' | 'hostname' | 'port'>;
  private readonly headers: Readonly<Record<string, string>>;
  /** Ends what is under way, one for each request or pause. */
  private readonly under = new Set<() => void>();
  private closed = false;
  private unreachable = false;

  constructor(options: HttpClientOptions) {
    this.options = options;
    const { base, token } = options;
    const settings = { keepAlive: true, maxSockets: 64, scheduling: 'lifo' } as const;
    const isSafe = base.protocol === 'https:';
    this.agent = isSafe ? new https.Agent(settings) : new http.Agent(settings);
    this.send = isSafe ? https.request : http.request;
    const { protocol, hostname, port } = urlToHttpOptions(base);
    this.host = { protocol, hostname, port };
    this.headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
  }

  /** Ends every connection; calls under way are given up. */
  close(): void {
    this.closed = true;
    for (const end of this.under) end();
    this.agent.destroy();
  }

  async ask(ask: HttpAsk): Promise<HttpAnswer> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      this.refuseGivenUp(ask);
      const answer = await this.once(ask).catch((error: unknown) => String(error));
      this.refuseGivenUp(ask);
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
      await this.pause(pause * (0.5 + this.options.clock.random() / 2), ask);
    }
  }

  private refuseGivenUp({ signal }: HttpAsk): void {
    if (this.closed || signal?.aborted === true) throw new GivenUp('the worker stops');
  }

  /** Has `end` called once where the client is closed or the call given up; returns the way to leave that off. */
  private whenGivenUp({ signal }: HttpAsk, end: () => void): () => void {
    this.under.add(end);
    signal?.addEventListener('abort', end);
    return () => {
      this.under.delete(end);
      signal?.removeEventListener('abort', end);
    };
  }

  private pause(ms: number, ask: HttpAsk): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        leave();
        resolve();
      };
      const cancel = this.options.clock.after(ms, end);
      const leave = this.whenGivenUp(ask, end);
    });
  }

  private once(ask: HttpAsk): Promise<HttpAnswer> {
    // As text, and its length known: then head and body leave in one write.
    const { body } = ask;
    return new Promise((resolve, reject) => {
      const request = this.send({
        ...this.host,
        method: ask.method,
        path: ask.path,
        agent: this.agent,
        timeout: ask.timeoutMs ?? 30_000,
        headers:
          body === undefined
            ? this.headers
            : {
                ...this.headers,
                'content-type': 'application/json',
                'content-length': Buffer.byteLength(body),
              },
      });
      const leave = this.whenGivenUp(ask, () => request.destroy(new GivenUp('the worker stops')));
      const failed = (error: Error) => {
        leave();
        reject(error);
      };
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          leave();
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
        response.on('error', failed);
        response.on('aborted', () => failed(new Error('the answer was cut off')));
      });
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', failed);
      request.end(body);
    });
  }
}
