import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { builtAssets } from './built-assets';

const script = 'export const rails = "again";\n'.repeat(200);
const root = mkdtempSync(join(tmpdir(), 'rerail-assets-'));
const folder = join(root, '.next/static/chunks');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, '[run].js'), script);
writeFileSync(join(folder, 'face.woff2'), 'as it is');
writeFileSync(join(folder, 'notes.ts'), 'not for browsers');
writeFileSync(join(root, 'secret.js'), 'no');

const server = createServer();
beforeAll(async () => {
  const assets = await builtAssets(root);
  server.on('request', (req, res) => {
    if (!assets(req, res)) res.writeHead(404).end('another answers');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  // From now on nothing is read from the folder.
  rmSync(root, { recursive: true });
});
afterAll(() => server.close());

function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { port } = server.address() as AddressInfo;
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

const SCRIPT = '/_next/static/chunks/%5Brun%5D.js';

it('sends a script compressed to whoever takes it so, and as it is to others, for ever', async () => {
  const zipped = await vi.waitFor(async () => {
    const answer = await ask(SCRIPT, { 'accept-encoding': 'br;q=1.0, gzip;q=0.8' });
    expect(answer.headers['content-encoding']).toBe('gzip');
    return answer;
  });
  expect(gunzipSync(zipped.body).toString()).toBe(script);
  expect(zipped.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-length': String(zipped.body.length),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  for (const accepted of ['identity', 'gzip;q=0', 'gzip; q=0.0, br', 'xgzip', '']) {
    const plain = await ask(SCRIPT, { 'accept-encoding': accepted });
    expect(plain.headers['content-encoding'], accepted).toBeUndefined();
    expect(plain.body.toString()).toBe(script);
  }
  const head = await ask(`${SCRIPT}?v=1`, { 'accept-encoding': 'gzip' }, 'HEAD');
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
    200,
    String(zipped.body.length),
    0,
  ]);
});

it('leaves alone what is compressed already', async () => {
  const face = await ask('/_next/static/chunks/face.woff2', { 'accept-encoding': 'gzip' });
  expect(face.headers).toMatchObject({ 'content-type': 'font/woff2' });
  expect(face.headers['content-encoding']).toBeUndefined();
  expect(face.body.toString()).toBe('as it is');
});

it.each([
  ['GET', '/_next/static/chunks/notes.ts'],
  ['GET', '/_next/static/chunks/../../../secret.js'],
  ['GET', '/_next/static/..%2f..%2fsecret.js'],
  ['GET', '/_next/static/chunks'],
  ['GET', '/_next/static/__proto__'],
  ['GET', '/runs'],
  ['POST', SCRIPT],
])('leaves %s %s to another', async (method, path) => {
  expect((await ask(path, {}, method)).status).toBe(404);
});
