import { existsSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtAssets } from './built-assets';
import { closeRoot, DatabaseProblem, root } from './container';
import { type Env, readEnv } from './env';
import { isLoopbackAddress } from './guards';
import { httpServer } from './http-server';
import type { InFlight } from './in-flight';
import { listener } from './listener';
import { markPeer } from './peer-header';
import { router } from './router';
import { routes } from './routes';

/*
 * The console's own HTTP server. API requests go straight to the exported handlers of the route files; the pages are
 * Next's. A Next handler that does nothing costs 0.8 ms, a bare one 0.15 ms (STACK.md).
 */

/** How long a stop waits for requests in flight. */
const STOP_WITHIN_MS = 5_000;

const say = (line: string) => process.stderr.write(`rerail: ${line}\n`);

function readSettings(): Env {
  // The bundle lies in `.rerail/server/`; data and `.next` are found from the project's root, not the caller's folder.
  const here = dirname(fileURLToPath(import.meta.url));
  process.env['RERAIL_ROOT'] ??= resolve(here, '../..');
  const decoder = resolve(here, 'decode-worker.mjs');
  if (existsSync(decoder)) process.env['RERAIL_DECODER'] ??= decoder;
  return readEnv();
}

/** A sentence where the console must not listen on that address. */
function refusalOf({ host, access }: Env): string | undefined {
  if (isLoopbackAddress(host) || host === 'localhost') return undefined;
  if (access.token !== undefined || access.tokensFile !== undefined) return undefined;
  return `HOST=${host} is not loopback, and nobody would have to sign in. Set RERAIL_TOKEN (16 characters or more, such as openssl rand -hex 24 prints) or RERAIL_TOKENS_FILE; or start it without HOST, and reach it from elsewhere through a tunnel such as ssh -L 3000:127.0.0.1:3000.`;
}

async function pagesOf(
  env: Env,
  server: Server,
): Promise<((req: IncomingMessage, res: ServerResponse) => Promise<void>) | undefined> {
  if (!env.pages) return undefined;
  const { default: next } = await import('next');
  const app = next({ dev: false, dir: env.root, hostname: env.host, port: env.port, httpServer: server });
  await app.prepare();
  const handle = app.getRequestHandler();
  const assets = await builtAssets(env.root);
  return async (req, res) => {
    markPeer(req);
    if (!assets(req, res)) await handle(req, res);
  };
}

function listen(server: Server, env: Env): Promise<number> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen({ host: env.host, port: env.port }, () => {
      server.off('error', failed);
      done((server.address() as AddressInfo).port);
    });
  });
}

function stopOn(signals: readonly NodeJS.Signals[], server: Server, inFlight: InFlight): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    const giveUp = setTimeout(() => process.exit(1), STOP_WITHIN_MS);
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    await inFlight.end();
    server.closeIdleConnections();
    // What is left are clients that do not take their answer.
    const force = setTimeout(() => server.closeAllConnections(), 500);
    await closed;
    clearTimeout(force);
    clearTimeout(giveUp);
    await closeRoot();
    process.exit(0);
  };
  for (const signal of signals) process.on(signal, () => void stop());
}

async function start(): Promise<void> {
  const env = readSettings();
  const refusal = refusalOf(env);
  if (refusal !== undefined) {
    say(refusal);
    process.exit(2);
  }
  const { deps } = await root();
  let pages: Awaited<ReturnType<typeof pagesOf>>;
  const serve = listener({
    route: router(routes),
    gate: deps.gate,
    pages: (req, res) => (pages === undefined ? noPages(res) : pages(req, res)),
    onError: (error) => deps.log.error({ err: error }, 'request failed'),
  });
  const server = httpServer(serve);
  stopOn(['SIGTERM', 'SIGINT'], server, deps.inFlight);
  pages = await pagesOf(env, server);
  const port = await listen(server, env);
  process.stdout.write(`rerail: http://${isIPv6(env.host) ? `[${env.host}]` : env.host}:${port}\n`);
}

function noPages(res: ServerResponse): Promise<void> {
  res.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
  res.end('This console was started without its pages (RERAIL_NO_PAGES=1).\n');
  return Promise.resolve();
}

start().catch(async (error: unknown) => {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    const port = process.env['PORT'] ?? '3000';
    say(
      `port ${port} is in use. Stop what listens there, or choose another port: PORT=${Number(port) + 1} npm start`,
    );
  } else if (error instanceof DatabaseProblem) say(error.message);
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  await closeRoot().catch(() => undefined);
  process.exit(1);
});
