import type { IncomingMessage, ServerResponse } from 'node:http';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { type BodyPace, NO_ROOM, Place, watchPace } from './body-pace';
import type { Deps } from './deps';
import { type Gate, refusedAtGate } from './gate';
import { apiHeaders, type Caller, isApiPath, pageHeaders, refuse } from './guards';
import { type EdgeProblem, type Incoming, invalid, type Outgoing } from './http';
import { toldToExporter } from './otlp-answer';
import type { Principal } from './principal';
import { missAnswer, problemAnswer } from './problems';
import type { Match } from './router';

export interface ListenerOptions {
  readonly route: (method: string, pathname: string) => Match;
  /** Answers what is no API route: the pages. */
  readonly pages: ((req: IncomingMessage, res: ServerResponse) => Promise<void>) | undefined;
  /** The root that routes get, where it is not the process's own (tests). */
  readonly deps?: Deps;
  readonly gate: Gate;
  /** An error outside every endpoint. */
  readonly onError: (error: unknown) => void;
}

/**
 * Answers requests of a `node:http` server: guards first, then the API straight from its route handlers, the rest by
 * `pages`. An API request costs no web `Request` or `Response`.
 */
export function listener(options: ListenerOptions): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    serve(options, req, res).catch((error: unknown) => {
      options.onError(error);
      if (!res.headersSent) send(res, req, problemAnswer({ kind: 'internal' }, 500)).catch(options.onError);
      else res.destroy();
    });
  };
}

async function serve(options: ListenerOptions, req: IncomingMessage, res: ServerResponse): Promise<void> {
  takeWholeTarget(req);
  if (hosts(req) > 1)
    return send(res, req, problemAnswer(invalid('headers.host', 'stands there twice'), 400));
  const url = req.url ?? '/';
  const question = url.indexOf('?');
  const pathname = question === -1 ? url : url.slice(0, question);
  const refusal = refuse(callerOf(req, pathname), options.gate);
  if (refusal !== undefined) return send(res, req, problemAnswer(refusal, 403));
  if (!isPath(pathname)) return send(res, req, missAnswer({ kind: 'malformed' }));
  if (!isApiPath(pathname) && options.pages !== undefined) {
    for (const [name, value] of Object.entries(pageHeaders(pathname))) res.setHeader(name, value);
    return options.pages(req, res);
  }
  const match = options.route(req.method ?? 'GET', pathname);
  if (match.kind !== 'found') return send(res, req, missAnswer(match));
  const { authorization, cookie } = req.headers;
  const entered = options.gate.enter({ authorization, cookie, peer: req.socket.remoteAddress });
  if (!entered.ok) return send(res, req, refusedAtGate(entered.problem));
  const search = question === -1 ? '' : url.slice(question + 1);
  const incoming = new NodeIncoming(req, res, match.params, search, entered.value);
  return send(res, req, await match.handler.direct(incoming, options.deps));
}

/** Node hands on the first and says nothing; who stands before us may have gone by another. */
function hosts({ rawHeaders }: IncomingMessage): number {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') found++;
  return found;
}

/** `GET http://host/path`, as a proxy asks: the host that counts is the target's (RFC 9112 §3.2.2). */
function takeWholeTarget(req: IncomingMessage): void {
  const [, host, rest] = /^https?:\/\/([^/?]*)(.*)$/i.exec(req.url ?? '') ?? [];
  if (host === undefined || rest === undefined) return;
  req.headers.host = host;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** Whether routes and pages can read it: `*` of `OPTIONS *` is none, nor is what is not percent-encoded UTF-8. */
function isPath(pathname: string): boolean {
  try {
    return pathname.startsWith('/') && decodeURI(pathname) !== '';
  } catch {
    return false;
  }
}

const callerOf = (req: IncomingMessage, path: string): Caller => ({
  peer: req.socket.remoteAddress,
  method: req.method ?? 'GET',
  path,
  host: req.headers.host,
  origin: req.headers.origin,
  fetchSite: one(req.headers['sec-fetch-site']),
  fetchMode: one(req.headers['sec-fetch-mode']),
  fetchDest: one(req.headers['sec-fetch-dest']),
});

const one = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(', ') : header);

/** A `node:http` request as endpoints see it; what is not asked for is not made. */
class NodeIncoming implements Incoming {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  readonly search: string;
  readonly principal: Principal | undefined;
  #signal: AbortSignal | undefined;

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    params: Readonly<Record<string, string>>,
    search: string,
    principal: Principal | undefined,
  ) {
    this.#req = req;
    this.#res = res;
    this.params = params;
    this.search = search;
    this.principal = principal;
  }

  get method() {
    return this.#req.method ?? 'GET';
  }

  get peer() {
    return this.#req.socket.remoteAddress;
  }

  header = (name: string) => one(this.#req.headers[name]);

  read: Incoming['read'] = (limit, pace, place) => readRequest(this.#req, limit, pace, place);

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const gone = new AbortController();
      if (this.#res.destroyed) gone.abort();
      else this.#res.once('close', () => gone.abort());
      this.#signal = gone.signal;
    }
    return this.#signal;
  }
}

/** Collects a body of at most `limit` bytes, as long as they come in `pace`; the rest is left on the wire, see `send`. */
function readRequest(
  req: IncomingMessage,
  limit: number,
  pace: BodyPace,
  place = new Place(undefined),
): Promise<Result<Uint8Array, EdgeProblem>> {
  const tooLarge = fail({ kind: 'body-too-large', limit: 'body', limitBytes: limit } as const);
  if (Number(req.headers['content-length'] ?? 0) > limit) return Promise.resolve(tooLarge);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const watch = watchPace(pace, (problem) => settle(fail(problem)));
    const settle = (result: Result<Uint8Array, EdgeProblem>) => {
      watch.end();
      req.off('data', take);
      resolve(result);
    };
    const take = (chunk: Buffer) => {
      watch.took(chunk.byteLength);
      size += chunk.byteLength;
      if (size > limit) settle(tooLarge);
      else if (!place.take(chunk.byteLength)) settle(fail(NO_ROOM));
      else chunks.push(chunk);
    };
    req.on('data', take);
    req.once('end', () =>
      settle(ok(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))),
    );
    req.once('close', () => settle(fail({ kind: 'client-gone' })));
    req.once('error', () => settle(fail({ kind: 'client-gone' })));
  });
}

/**
 * How much of an unread body is taken in and dropped, and for how long: a client that looks for the answer when it has
 * sent everything finds none where the connection was closed on it.
 */
const DRAIN_BYTES = 1024 * 1024 * 1024;
const DRAIN_MS = 30_000;

async function send(res: ServerResponse, req: IncomingMessage, answer: Outgoing): Promise<void> {
  const out = toldToExporter(answer, {
    path: (req.url ?? '').split('?', 1)[0] ?? '',
    contentType: req.headers['content-type'],
  });
  if (res.destroyed) {
    if (out.body instanceof ReadableStream) await out.body.cancel();
    return;
  }
  const bodiless = req.method === 'HEAD' || out.status === 204 || out.status === 304;
  const unread =
    !req.complete &&
    (req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined);
  const headers: Record<string, string> = { ...apiHeaders, ...out.headers };
  if (unread) headers['connection'] = 'close';
  if (out.body instanceof ReadableStream) {
    res.writeHead(out.status, headers);
    if (bodiless) {
      await out.body.cancel();
      res.end();
    } else await pipe(out.body, res);
    return;
  }
  // A text is left as it is: then head and body leave in one write.
  const body = out.body ?? '';
  if (out.status !== 204 && out.status !== 304) headers['content-length'] = String(Buffer.byteLength(body));
  res.writeHead(out.status, headers);
  if (unread) {
    res.flushHeaders();
    if (!bodiless) res.write(body);
    // For what stalled nobody waits a second time.
    if (out.status !== 408) await drained(req);
    res.end();
  } else res.end(bodiless ? undefined : body);
}

/** Resolves at the body's end, or once it is too long for anybody to wait for it. */
function drained(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = DRAIN_BYTES;
    const late = setTimeout(resolve, DRAIN_MS);
    const over = () => {
      clearTimeout(late);
      resolve();
    };
    req.once('end', over);
    req.once('close', over);
    req.on('data', (chunk: Buffer) => {
      left -= chunk.byteLength;
      if (left < 0) over();
    });
  });
}

/**
 * Sends a stream no faster than the client takes it; a client that goes cancels the source. A source that breaks is
 * thrown, and the answer left without its end: a client must not take a part for the whole.
 */
async function pipe(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const gone = new Promise<'gone'>((resolve) => res.once('close', () => resolve('gone')));
  try {
    res.flushHeaders();
    for (;;) {
      const next = await Promise.race([reader.read(), gone]);
      if (next === 'gone' || next.done) break;
      if (!res.write(next.value)) {
        const drained = new Promise<'drained'>((resolve) => res.once('drain', () => resolve('drained')));
        if ((await Promise.race([drained, gone])) === 'gone') break;
      }
    }
    res.end();
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
