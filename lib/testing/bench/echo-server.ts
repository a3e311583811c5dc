import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/* The floor of a round trip: a bare server in a process of its own that reads a body and answers a few bytes. */

const server = createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end('{"ok":true}');
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.once('disconnect', () => process.exit(0));
