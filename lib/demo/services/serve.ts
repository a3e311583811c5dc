import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a handler sees it. `text` is the whole body. */
export interface ServiceRequest {
  readonly method: string;
  readonly url: URL;
  readonly text: string;
  /** Of the `Idempotency-Key` header; null where there is none. */
  readonly idempotencyKey: string | null;
}

/** JSON with a status, or a function that writes the answer itself (a stream). */
export type ServiceAnswer =
  | { readonly status: number; readonly body: unknown }
  | { readonly write: (response: ServerResponse, closed: AbortSignal) => Promise<void> };

/**
 * Trouble made on demand, for requests whose path or body contains `match`. A status refuses before anything is done;
 * `hang` never answers and does nothing; `hold` does the work and withholds the answer until `/control/release`.
 */
interface Fault {
  readonly match: string;
  readonly answer: number | 'hang' | 'hold';
  readonly message: string;
  times: number;
}

const LIMIT_BYTES = 8 * 1024 * 1024;

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LIMIT_BYTES) throw new Error('request body above 8 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Wakes those who wait when it rings, and those who come later at once, until it is `still` again. */
function createBell() {
  let rung = false;
  const waiters: (() => void)[] = [];
  return {
    ring: () => {
      rung = true;
      for (const wake of waiters.splice(0)) wake();
    },
    still: () => {
      rung = false;
    },
    wait: (): Promise<void> => (rung ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}

function createFaults() {
  const faults: Fault[] = [];
  const held = new Map<string, ReturnType<typeof createBell>>();
  const released = new Map<string, ReturnType<typeof createBell>>();
  const bellIn = (bells: Map<string, ReturnType<typeof createBell>>, match: string) => {
    const bell = bells.get(match) ?? createBell();
    bells.set(match, bell);
    return bell;
  };
  return {
    /** What an earlier fault with this match held and released says nothing about this one. */
    add: (fault: Fault) => {
      faults.push(fault);
      for (const bells of [held, released]) bells.get(fault.match)?.still();
    },
    clear: (match: string) => {
      for (const fault of faults) if (fault.match === match) fault.times = 0;
    },
    take: (request: ServiceRequest): Fault | undefined => {
      const found = faults.find(
        ({ match, times }) =>
          times > 0 && (request.url.pathname.includes(match) || request.text.includes(match)),
      );
      if (found !== undefined) found.times -= 1;
      return found;
    },
    held: (match: string) => bellIn(held, match),
    released: (match: string) => bellIn(released, match),
  };
}

/** The service's own controls, which its clients do not know: `POST /control/faults`, `/clear`, `/release`, `GET /control/held`. */
async function control(
  request: ServiceRequest,
  faults: ReturnType<typeof createFaults>,
): Promise<ServiceAnswer> {
  const what = request.url.pathname.slice('/control/'.length);
  if (what === 'held') {
    await faults.held(request.url.searchParams.get('match') ?? '').wait();
    return { status: 200, body: { held: true } };
  }
  const asked = JSON.parse(request.text) as Pick<Fault, 'match'> & Partial<Fault>;
  if (what === 'faults') faults.add({ answer: 500, times: 1, message: 'made to fail', ...asked });
  if (what === 'clear') faults.clear(asked.match);
  if (what === 'release') faults.released(asked.match).ring();
  return { status: 200, body: {} };
}

/**
 * Starts a service on a free port of 127.0.0.1, tells the parent `{ url }`, and ends when the channel to it closes.
 * `received` hears of every request before anything is done about it, trouble made on demand included.
 */
export function serve(
  handle: (request: ServiceRequest) => Promise<ServiceAnswer> | ServiceAnswer,
  received: (request: ServiceRequest) => void = () => undefined,
): void {
  const faults = createFaults();

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const key = incoming.headers['idempotency-key'];
    const request: ServiceRequest = {
      method: incoming.method ?? 'GET',
      url,
      text: await textOf(incoming),
      idempotencyKey: typeof key === 'string' ? key : null,
    };
    const closed = new AbortController();
    response.on('close', () => closed.abort());
    if (url.pathname.startsWith('/control/')) {
      await send(await control(request, faults), response, closed.signal);
      return;
    }
    received(request);
    const fault = faults.take(request);
    if (fault?.answer === 'hang') return;
    if (typeof fault?.answer === 'number') {
      sendJson(response, fault.answer, { error: { message: fault.message } });
      return;
    }
    const given = await handle(request);
    if (fault?.answer === 'hold') {
      faults.held(fault.match).ring();
      await faults.released(fault.match).wait();
    }
    await send(given, response, closed.signal);
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      sendJson(response, 400, { error: { message: error instanceof Error ? error.message : String(error) } });
    });
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  // A signal to the whole group is the supervisor's to carry out: a worker that hands over still needs its services.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit(0));
}

async function send(given: ServiceAnswer, response: ServerResponse, closed: AbortSignal): Promise<void> {
  if ('write' in given) await given.write(response, closed);
  else sendJson(response, given.status, given.body);
}
