import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { percentile, timed } from './figures';

/* Bare limits of this machine, measured in the same process as what they are held against. */

const KIB = Buffer.alloc(1_024, 'x');

function openBare(folder: string) {
  const db = new Database(join(folder, `bare-${Date.now()}.db`));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('create table t (id integer primary key, run text, seq int, body blob)');
  return { db, insert: db.prepare('insert into t (run, seq, body) values (?, ?, ?)') };
}

/** Milliseconds, p50, of one commit of one row of 1 KB with synchronous=FULL. */
export async function bareCommitMs(folder: string): Promise<number> {
  const { db, insert } = openBare(folder);
  const samples = await timed(1_000, (i) => insert.run('r', i, KIB));
  db.close();
  return percentile(samples, 0.5);
}

/** Rows a second of bare better-sqlite3: 1 KB rows, 1,000 in a transaction, FULL. */
export function bareRowsPerSecond(folder: string): number {
  const { db, insert } = openBare(folder);
  const thousand = db.transaction(() => {
    for (let i = 0; i < 1_000; i++) insert.run('r', i, KIB);
  });
  thousand();
  const began = performance.now();
  for (let i = 0; i < 50; i++) thousand();
  const ms = performance.now() - began;
  db.close();
  return 50_000 / (ms / 1_000);
}

/** One request by a client that does nothing else. Rejects where the answer says that it failed. */
export const post = (url: string, agent: Agent, body: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      response.on('data', () => undefined);
      response.on('end', () =>
        (response.statusCode ?? 500) < 300 ? resolve() : reject(new Error(`${url}: ${response.statusCode}`)),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });

/** Milliseconds, p50, of a 1 KB POST over loopback with keep-alive to a bare server in another process. */
export async function bareRoundTripMs(): Promise<number> {
  const child = fork(fileURLToPath(new URL('./echo-server.mjs', import.meta.url)));
  const url = await new Promise<string>((resolve) => {
    child.once('message', (message) => resolve((message as { url: string }).url));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await timed(300, () => post(url, agent, KIB));
  const samples = await timed(1_500, () => post(url, agent, KIB));
  agent.destroy();
  child.disconnect();
  return percentile(samples, 0.5);
}
