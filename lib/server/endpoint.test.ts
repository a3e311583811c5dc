import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { GET as getRun } from '@/app/api/v1/runs/[runId]/route';
import { GET as listRuns } from '@/app/api/v1/runs/route';
import { closeRoot } from './container';

describe('a route handler as Next calls it', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rerail-endpoint-'));
    vi.stubEnv('DATABASE_URL', `file:${join(folder, 'rerail.db')}`);
    vi.stubEnv('RERAIL_ROOT', resolve(import.meta.dirname, '../..'));
    vi.stubEnv('RERAIL_LOG', 'silent');
  });
  afterAll(async () => {
    await closeRoot();
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  });

  it('answers on a path without parameters, for which Next gives none', async () => {
    const none = { params: Promise.resolve(undefined) } as unknown as Parameters<typeof listRuns>[1];
    const reply = await listRuns(new Request('http://127.0.0.1/api/v1/runs?limit=5'), none);
    expect([reply.status, await reply.json()]).toEqual([200, { items: [], total: 0, nextCursor: null }]);
  });

  it('answers problems as problem+json', async () => {
    const reply = await getRun(new Request('http://127.0.0.1/api/v1/runs/r'), {
      params: Promise.resolve({ runId: 'r' }),
    });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });
});
