import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { problemAnswer } from './problems';

/** What a client hears whose bytes are no request: Node tells of it once a connection, which is over with it. */
export function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The client itself has gone, or has an answer already.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = answerTo(error.code);
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(String(body))),
    connection: 'close',
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${String(body)}`);
}

function answerTo(code: string | undefined) {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      const problem = { kind: 'headers-too-large', limit: 'request head', limitBytes: maxHeaderSize };
      return problemAnswer(problem, 431);
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const problem = { kind: 'head-stalled', detail: 'The request’s head did not come to its end.' };
      return problemAnswer(problem, 408);
    }
    default: {
      const problem = { kind: 'malformed', detail: 'These bytes are no HTTP request.' };
      return problemAnswer(problem, 400);
    }
  }
}
