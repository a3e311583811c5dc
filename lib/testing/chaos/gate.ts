import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passage {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** What came back through the gate; its sender may count on it. */
export interface Acknowledged extends Passage {
  readonly status: number;
  readonly answer: string;
}

/**
 * The way from workers and operator to a console that comes and goes: one address, whatever port the console is on.
 * Keeps what was acknowledged, so that nothing of it may be missing afterwards. While the console is down a caller's
 * connection breaks, as it would without the gate.
 */
export class Gate {
  readonly acknowledged: Acknowledged[] = [];
  /** Port of the console; undefined while it is down. */
  target: number | undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
    this.#server.keepAliveTimeout = 60_000;
  }

  static async open(): Promise<Gate> {
    const gate = new Gate();
    await new Promise<void>((resolve) => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const port = this.target;
    if (port === undefined) {
      incoming.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    const method = incoming.method ?? 'GET';
    const path = incoming.url ?? '/';
    const passage = (): Passage => ({ method, path, body: Buffer.concat(chunks).toString('utf8') });
    const headers = { ...incoming.headers, host: `127.0.0.1:${port}` };
    const onward = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      const streamed = String(answer.headers['content-type']).startsWith('text/event-stream');
      if (streamed) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        answer.on('error', () => incoming.socket.destroy());
        return;
      }
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', () => incoming.socket.destroy());
      answer.on('end', () => {
        if (this.target !== port) {
          incoming.socket.destroy();
          return;
        }
        const text = Buffer.concat(parts);
        const status = answer.statusCode ?? 502;
        if (method === 'POST')
          this.acknowledged.push({ ...passage(), status, answer: text.toString('utf8') });
        outgoing.writeHead(status, answer.headers).end(text);
      });
    });
    onward.on('error', () => incoming.socket.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      onward.write(chunk);
    });
    incoming.on('end', () => onward.end());
    incoming.on('error', () => onward.destroy());
  }
}
