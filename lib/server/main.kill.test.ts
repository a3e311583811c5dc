import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
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

  it('refuses to listen beyond this machine, token or not, in one sentence', async () => {
    for (const env of [{ HOST: '0.0.0.0' }, { HOST: '0.0.0.0', RERAIL_TOKEN: 'secret' }]) {
      const started = start(env);
      expect(await started.ended).toBe(2);
      expect(started.errors()).toContain('is not loopback');
    }
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
