import type { IncomingMessage } from 'node:http';

/** Carries the socket's remote address to `proxy.ts`, which has no socket. Overwritten on every request. */
export const PEER_HEADER = 'x-rerail-peer';

/** Sets the header from the socket, whatever the client sent; a closed socket leaves it out, which is refused. */
export function markPeer(request: IncomingMessage): void {
  const peer = request.socket.remoteAddress;
  if (peer === undefined) delete request.headers[PEER_HEADER];
  else request.headers[PEER_HEADER] = peer;
}
