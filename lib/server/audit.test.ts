import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';
import { startTestConsole } from '@/lib/testing/test-console';
import { noteAudit } from '@/lib/usecases/note-audit';

interface Row {
  readonly action: string;
  readonly actor: string;
  readonly seq: number;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly planDigest: string | null;
  readonly detail: string | null;
  readonly commandId: string;
  readonly runId: string | null;
}
interface AuditPage {
  readonly items: readonly Row[];
  readonly total: number;
  readonly nextCursor: string | null;
}

const read = async (api: ApiClient, query: Record<string, string>): Promise<AuditPage> => {
  const reply = await api.get(`/api/v1/audit?${new URLSearchParams(query)}`);
  expect(reply.status).toBe(200);
  return reply.body as AuditPage;
};

/** A run that failed after a checkpoint, and waits for nobody. */
async function failed(api: ApiClient): Promise<TestWorker> {
  const worker = await TestWorker.create(api);
  const lookup = 'plan#1/lookup#1';
  await worker.write(worker.enter('plan'), worker.read(lookup), worker.done(lookup));
  await worker.write({
    kind: 'checkpoint.saved',
    trigger: 'manual',
    visit: 'plan#1',
    name: '',
    entrySeq: 0,
    othersSeq: 0,
  });
  await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } });
  await worker.release('done');
  return worker;
}

describeConsole('the audit', ({ api, console: under }) => {
  it('has an order from its acceptance, with plan digest and reason, and how it ended once that is known', async () => {
    const worker = await failed(api());
    const plan = await api().plan(worker.runId, { mode: 'resume', from: 'latest' });
    const resume = {
      mode: 'resume',
      from: 'latest',
      planDigest: plan.body.digest,
      reason: 'after the outage',
    };
    const given = await api().command(worker.runId, resume);
    expect(given.status).toBe(202);
    const [running, ...rest] = (await read(api(), { run: worker.runId })).items;
    expect(rest).toEqual([]);
    expect(running).toMatchObject({
      actor: under().deps.actor,
      action: 'resume',
      reason: 'after the outage',
      planDigest: plan.body.digest,
      commandId: given.body.commandId,
      outcome: 'running',
    });
    const at = await api().get(`/api/v1/runs/${worker.runId}/events?kinds=command.accepted`);
    expect(at.body.items).toMatchObject([{ seq: running?.seq, commandId: given.body.commandId }]);
    // Taken back by a cancel, which is done at once: no worker holds the run.
    expect((await api().command(worker.runId, { mode: 'cancel', reason: 'not needed' })).status).toBe(202);
    expect((await read(api(), { run: worker.runId })).items).toMatchObject([
      { action: 'cancel', outcome: 'done', reason: 'not needed' },
      { action: 'resume', outcome: 'withdrawn' },
    ]);
  });

  it('has an order once, however often it is given, and none that was refused at the door', async () => {
    const worker = await TestWorker.create(api());
    const command = { commandId: randomUUID(), mode: 'pause', reason: 'once' };
    const path = `/api/v1/runs/${worker.runId}/commands`;
    for (let i = 0; i < 3; i++) expect((await api().post(path, command)).status).toBe(202);
    expect((await api().post(path, { ...command, reason: 'other' })).status).toBe(409);
    expect((await api().post(path, { ...command, commandId: randomUUID() })).status).toBe(409);
    expect((await read(api(), { run: worker.runId })).items).toMatchObject([
      { action: 'pause', reason: 'once' },
    ]);
  });

  it('says that an order was done when the worker says so, and not what a late worker adds', async () => {
    const worker = await TestWorker.create(api());
    const commandId = randomUUID();
    await api().post(`/api/v1/runs/${worker.runId}/commands`, { commandId, mode: 'pause', reason: '' });
    await worker.write({ kind: 'command.ended', commandId, outcome: 'done' }, { kind: 'run.paused' });
    expect((await read(api(), { run: worker.runId })).items).toMatchObject([{ commandId, outcome: 'done' }]);
  });

  it('lists a fork under the run that it made, not under the one that it was made of', async () => {
    const worker = await failed(api());
    const plan = await api().plan(worker.runId, { mode: 'fork', from: 'latest' });
    const fork = await api().command(worker.runId, {
      mode: 'fork',
      from: 'latest',
      planDigest: plan.body.digest,
      reason: 'try again',
    });
    expect(fork.status).toBe(202);
    expect((await read(api(), { run: fork.body.runId })).items).toMatchObject([
      { action: 'fork', seq: 1, outcome: 'running' },
    ]);
    expect((await read(api(), { run: worker.runId })).items).toEqual([]);
  });

  it('does not take the orders of a run that has its home elsewhere for its own', async () => {
    const worker = await TestWorker.create(api());
    expect((await api().command(worker.runId, { mode: 'cancel', reason: 'elsewhere' })).status).toBe(202);
    const file = await fetch(`${under().url}/api/v1/runs/${worker.runId}/export`);
    const other = await startTestConsole();
    try {
      const uploaded = await fetch(`${other.url}/api/v1/traces`, {
        method: 'POST',
        body: await file.arrayBuffer(),
      });
      expect(uploaded.status).toBe(201);
      expect(await read(new ApiClient(other.url), {})).toMatchObject({ items: [], total: 0 });
    } finally {
      await other.close();
    }
  });

  it('is filtered by actor, action, text and time, and walked newest first', async () => {
    const mark = `mark-${randomUUID()}`;
    const begun = Date.now();
    const worker = await TestWorker.create(api());
    await api().command(worker.runId, { mode: 'pause', reason: `${mark} 100%_ÄÖ` });
    await api().command(worker.runId, { mode: 'cancel', reason: `${mark} then` });
    const deps = under().deps;
    await noteAudit({ ...deps, actor: `Ada ${mark}` }, { action: 'link-made', detail: 'For a day.' });
    const all = await read(api(), { q: mark.toUpperCase() });
    expect(all.items.map(({ action }) => action)).toEqual(['link-made', 'cancel', 'pause']);
    expect(all).toMatchObject({ total: 3, nextCursor: null });

    const first = await read(api(), { q: mark, limit: '2' });
    expect(first.items).toEqual(all.items.slice(0, 2));
    const second = await read(api(), { q: mark, limit: '2', cursor: first.nextCursor ?? '' });
    expect([second.items, second.total, second.nextCursor]).toEqual([all.items.slice(2), 3, null]);

    const found = async (query: Record<string, string>) =>
      (await read(api(), { q: mark, ...query })).items.map(({ action }) => action);
    expect(await found({ actor: `Ada ${mark}` })).toEqual(['link-made']);
    expect(await found({ action: 'pause,cancel' })).toEqual(['cancel', 'pause']);
    expect(await found({ q: `${mark} 100%_äö` })).toEqual(['pause']);
    expect(await found({ q: `${mark} 100_` })).toEqual([]);
    expect(await found({ from: String(begun) })).toHaveLength(3);
    expect(await found({ to: String(begun) })).toEqual([]);
    expect((await api().get('/api/v1/audit?cursor=garbage')).status).toBe(400);
    expect((await api().get('/api/v1/audit?action=nothing')).status).toBe(400);
  });
});

it('is filled with the orders of journals that are older than it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rerail-audit-'));
  const file = join(folder, 'rerail.db');
  const databaseUrl = `file:${file}`;
  try {
    const before = await startTestConsole({ databaseUrl });
    const api = new ApiClient(before.url);
    const worker = await failed(api);
    const running = await TestWorker.create(api);
    await api.command(running.runId, { mode: 'cancel', reason: 'long ago' });
    const plan = await api.plan(worker.runId, { mode: 'fork', from: 'latest' });
    await api.command(worker.runId, { mode: 'fork', from: 'latest', planDigest: plan.body.digest });
    const wanted = await read(api, {});
    expect(wanted.items).toHaveLength(2);
    await before.close();

    const database = new Database(file);
    database.exec('DELETE FROM "Audit"');
    database.close();
    const comparable = ({ items }: AuditPage) =>
      items.map(({ runId, seq, ...row }) => ({ runId, seq, ...row, id: 0 }));
    for (let opened = 0; opened < 2; opened++) {
      const after = await startTestConsole({ databaseUrl });
      expect(comparable(await read(new ApiClient(after.url), {}))).toEqual(comparable(wanted));
      await after.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
