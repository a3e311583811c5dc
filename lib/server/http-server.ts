import { createServer, type RequestListener, type Server } from 'node:http';
import { refuseBroken } from './refuse-broken';

/** How long a request's head may take, ms. Node's own default. */
export const HEAD_MS = 60_000;

/**
 * A server as the console needs it. How long a body may take is judged by its silence (`BODY_IDLE_MS`), while an upload
 * also waits for its turn; so only the head has a time of its own, which Node drops with the one of whole requests.
 */
export function httpServer(serve: RequestListener, headMs = HEAD_MS): Server {
  const server = createServer(
    {
      keepAliveTimeout: 75_000,
      noDelay: true,
      requestTimeout: 0,
      headersTimeout: headMs,
      connectionsCheckingInterval: headMs / 2,
    },
    serve,
  );
  return server.on('clientError', refuseBroken);
}
