import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, claim, TestWorker, until } from '@/lib/testing/api-client';

const root = resolve(import.meta.dirname, '../..');

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly errors: () => string;
  /** Exit code, once it has ended. */
  readonly ended: Promise<number | null>;
}

describe('the console’s own server', () => {
  let folder = '';
  let entry = '';
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rerail-main-'));
    const { buildServer } = (await import(pathToFileURL(resolve(import.meta.dirname, 'build.mjs')).href)) as {
      buildServer: (outfile: string) => Promise<string>;
    };
    entry = await buildServer(resolve(root, `.rerail/test-${process.pid}/main.mjs`));
  });
  afterAll(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
    await rm(resolve(entry, '..'), { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });

  function start(env: Record<string, string>): Started {
    const child = spawn(process.execPath, [entry], {
      // Not the project's folder: data and migrations are found from the root.
      cwd: tmpdir(),
      env: {
        NODE_ENV: 'test',
        PATH: process.env['PATH'] ?? '',
        RERAIL_ROOT: root,
        RERAIL_NO_PAGES: '1',
        RERAIL_LOG: 'warn',
        PORT: '0',
        DATABASE_URL: `file:${join(folder, 'rerail.db')}`,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let [output, errors] = ['', ''];
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    return {
      child,
      output: () => output,
      errors: () => errors,
      ended: once(child, 'exit').then(([code]) => code as number | null),
    };
  }

  const urlOf = (started: Started) =>
    until(
      async () => /^rerail: (http:\S+)$/m.exec(started.output())?.[1] ?? '',
      (url) => url !== '',
    );

  it('serves the API, ends on SIGTERM with streams and long polls open, and keeps what it acknowledged', async () => {
    const first = start({});
    const api = new ApiClient(await urlOf(first));
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'));
    const streams = await Promise.all(
      ['', `?run=${worker.runId}&after=0`].map((query) => fetch(`${api.url}/api/v1/stream${query}`)),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const polls = ['w7', 'w8'].map((workerId) => claim(api, { workerId, waitMs: 30_000 }));
    // Both polls wait: their workers were seen.
    await until(
      () => api.get('/api/v1/workers'),
      ({ body }) => body.items.length >= 2,
    );
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(first.errors()).toBe('');
    expect((await Promise.all(polls)).map(({ status }) => status)).toEqual([204, 204]);
    expect(await streams[1]?.text()).toContain('id: 2\n');

    const second = start({});
    expect(await new ApiClient(await urlOf(second)).get(worker.path)).toMatchObject({
      status: 200,
      body: { headSeq: 2 },
    });
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
  });

  it('names a port that is in use, and what to do', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const started = start({ PORT: String(port) });
    expect(await started.ended).toBe(1);
    expect(started.errors()).toContain(`port ${port} is in use`);
    taken.close();
  });

  it('refuses to listen beyond this machine without a token, and does with one', async () => {
    const without = start({ HOST: '0.0.0.0' });
    expect(await without.ended).toBe(2);
    expect(without.errors()).toMatch(/^rerail: HOST=0\.0\.0\.0 is not loopback[^\n]*RERAIL_TOKEN[^\n]*\n$/);
    const RERAIL_TOKEN = 'the-token-of-the-environment';
    const open = start({ HOST: '0.0.0.0', RERAIL_TOKEN });
    const { port } = new URL(await urlOf(open));
    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(`${url}/api/v1/runs`)).status).toBe(401);
    const authorization = `Bearer ${RERAIL_TOKEN}`;
    expect((await fetch(`${url}/api/v1/runs`, { headers: { authorization } })).status).toBe(200);
    const address = Object.values(networkInterfaces())
      .flat()
      .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
    if (address !== undefined)
      expect(
        (await fetch(`http://${address}:${port}/api/v1/runs`, { headers: { authorization } })).status,
      ).toBe(200);
    open.child.kill('SIGTERM');
    await open.ended;
    expect(open.errors()).not.toContain(RERAIL_TOKEN);
  });

  it('keeps sessions over a restart, by a secret that its owner alone can read', async () => {
    const env = { RERAIL_TOKEN: 'the-token-of-the-environment' };
    const first = start(env);
    const signedIn = await fetch(`${await urlOf(first)}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', token: env.RERAIL_TOKEN }),
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    first.child.kill('SIGTERM');
    await first.ended;
    expect((await stat(join(folder, 'session.key'))).mode & 0o077).toBe(0);
    const second = start(env);
    expect((await fetch(`${await urlOf(second)}/api/v1/runs`, { headers: { cookie } })).status).toBe(200);
    second.child.kill('SIGTERM');
    await second.ended;
    const third = start({ RERAIL_TOKEN: 'another-token-of-the-environment' });
    expect((await fetch(`${await urlOf(third)}/api/v1/runs`, { headers: { cookie } })).status).toBe(401);
    third.child.kill('SIGTERM');
    await third.ended;
  });

  it('does not start with tokens that are none, says which, and never shows them', async () => {
    const short = start({ RERAIL_TOKEN: 'too-short' });
    expect(await short.ended).toBe(1);
    expect(short.errors()).toContain('RERAIL_TOKEN: needs at least 16 characters');
    expect(short.errors()).not.toContain('too-short');
    const file = join(folder, 'tokens.json');
    await writeFile(file, '[{ "name": "ci", "role": "boss", "token": "a-token-nobody-guesses" }]', {
      mode: 0o600,
    });
    const wrong = start({ RERAIL_TOKENS_FILE: file });
    expect(await wrong.ended).toBe(1);
    expect(wrong.errors()).toContain('entry 1 ("ci"): role');
    expect(wrong.errors()).not.toContain('a-token-nobody-guesses');
  });

  it('says in one line what is wrong with a database file that is none', async () => {
    const file = join(folder, 'garbage.db');
    await writeFile(file, 'this is no database '.repeat(500));
    const started = start({ DATABASE_URL: `file:${file}` });
    expect(await started.ended).toBe(1);
    expect(started.errors()).toMatch(/^rerail: The file .*garbage\.db is no SQLite database[^\n]*\n$/);
  });

  it('refuses settings that make no sense, naming them, and a database that another console owns', async () => {
    const wrong = start({ RERAIL_LEASE_MS: 'soon' });
    expect(await wrong.ended).toBe(1);
    expect(wrong.errors()).toContain('RERAIL_LEASE_MS');
    const owner = start({});
    await urlOf(owner);
    const refused = async () => {
      const second = start({});
      expect(await second.ended).toBe(1);
      expect(second.errors()).toMatch(
        /^rerail: The database .* is in use by another Rerail process[^\n]*\n$/,
      );
    };
    await refused();
    await rm(join(folder, 'rerail.db.lock'));
    await refused();
    owner.child.kill('SIGTERM');
    await owner.ended;
  });
});
