import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire between worker and console that can be cut. */
export class Wire {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  cut = false;

  constructor(port: number) {
    this.server = createServer((socket) => {
      if (this.cut) {
        socket.destroy();
        return;
      }
      const out = connect(port, '127.0.0.1');
      for (const end of [socket, out]) {
        this.sockets.add(end);
        end.on('error', () => undefined);
        end.on('close', () => this.sockets.delete(end));
      }
      socket.pipe(out);
      out.pipe(socket);
    });
  }

  listen = () =>
    new Promise<string>((resolve) =>
      this.server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`),
      ),
    );
  break(): void {
    this.cut = true;
    for (const socket of this.sockets) socket.destroy();
  }
  close = () => {
    this.break();
    return new Promise((resolve) => this.server.close(resolve));
  };
}
