import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';
import { runEvent } from '@/lib/wire/v1/events';
import * as wire from '@/lib/wire/v1/runs';

describeConsole(
  'reading a run',
  ({ api }) => {
    /** A run of several hundred events, with messages, variables and a checkpoint. */
    async function long(): Promise<TestWorker> {
      const worker = await TestWorker.create(api(), { tags: ['long'] });
      await worker.write(worker.enter('plan'));
      for (let n = 1; n <= 20; n++) {
        await worker.write(
          ...Array.from({ length: 10 }, (_, i) => [
            worker.read(`plan#1/lookup#${n * 10 + i}`),
            worker.done(`plan#1/lookup#${n * 10 + i}`, { n, i }),
          ]).flat(),
          {
            kind: 'message.appended',
            role: 'user',
            message: worker.value({ role: 'user', content: `message ${n}` }),
          },
          {
            kind: 'variables.patched',
            patch: [{ op: n === 1 ? 'add' : 'replace', path: '/count', value: worker.value(n) }],
          },
        );
      }
      await worker.write({
        kind: 'checkpoint.saved',
        trigger: 'manual',
        visit: 'plan#1',
        name: '',
        entrySeq: 0,
        othersSeq: 0,
      });
      return worker;
    }

    it('tells of tokens and cost what the steps told, on page and list, and null where none did', async () => {
      const worker = await TestWorker.create(api(), { tags: ['told'] });
      const call = (n: number, usage?: Record<string, number>) => [
        worker.start(`plan#1/ask#${n}`, { step: 'llm', effect: 'read' }),
        { ...worker.done(`plan#1/ask#${n}`), ...(usage && { usage }) },
      ];
      const cost = async () => {
        const { cost: onPage } = wire.runSummary.parse((await api().get(worker.path)).body);
        expect((await api().get('/api/v1/runs?tag=told')).body.items).toMatchObject([{ cost: onPage }]);
        return onPage;
      };
      const none = { inputTokens: null, outputTokens: null, costMicroUsd: null, unpriced: 0 };
      await worker.write(worker.enter('plan'));
      expect(await cost()).toEqual(none);
      await worker.write(...call(1));
      expect(await cost()).toEqual({ ...none, unpriced: 1 });
      await worker.write(...call(2, { inputTokens: 0, outputTokens: 0, costMicroUsd: 0 }));
      expect(await cost()).toEqual({ inputTokens: 0, outputTokens: 0, costMicroUsd: 0, unpriced: 1 });
    });

    it('answers every projection in its documented shape', async () => {
      const worker = await long();
      const shapes = {
        '': wire.runSummary,
        '/steps?limit=50': wire.stepPage,
        [`/steps/${encodeURIComponent('plan#1/lookup#10')}`]: wire.stepDetail,
        '/checkpoints': wire.checkpointPage,
        '/effects': wire.effectPage,
        '/messages': wire.messagePage,
        '/questions': wire.questionPage,
        '/state?at=100': wire.stateAt,
        '/diff?from=30&to=200': wire.stateDiff,
        '/graph?at=100': wire.graphAt,
        '/buckets?n=10': wire.bucketPage,
      };
      for (const [path, shape] of Object.entries(shapes)) {
        const { status, body } = await api().get(`${worker.path}${path}`);
        expect([path, status]).toEqual([path, 200]);
        expect([path, shape.safeParse(body).error?.issues ?? []]).toEqual([path, []]);
        expect((await api().get(`/api/v1/runs/nobody${path}`)).status).toBe(404);
      }
      const { body } = await api().get(`${worker.path}/events?limit=5`);
      for (const event of body.items) expect(runEvent.safeParse(event).error).toBeUndefined();
    });

    it('gives the state at any seq: nearest snapshot and its tail, the same as reading on from there', async () => {
      const worker = await long();
      const { body: state } = await api().get(`${worker.path}/state?at=300`);
      expect(state).toMatchObject({ seq: 300, folded: { snapshotSeq: 256, events: 44 }, status: 'running' });
      const { body: early } = await api().get(`${worker.path}/state?at=24`);
      expect((await api().get(`/api/v1/payloads/${early.variables.count.sha256}`)).body).toBe(1);
      const { body: head } = await api().get(`${worker.path}/state`);
      expect(head).toMatchObject({ seq: worker.head, messages: { count: 20 } });
      expect((await api().get(`${worker.path}/state?at=999999`)).body.seq).toBe(worker.head);
      const { body: diff } = await api().get(`${worker.path}/diff?from=24`);
      expect(diff.changes).toContainEqual(
        expect.objectContaining({ path: '/variables/count', change: 'changed' }),
      );
    });

    it('pages the journal both ways, and says where the next page begins', async () => {
      const worker = await long();
      const first = await api().get(`${worker.path}/events?limit=3`);
      expect([
        first.body.items.map((e: { seq: number }) => e.seq),
        first.body.total,
        first.body.nextCursor,
      ]).toEqual([[1, 2, 3], worker.head, '3']);
      const next = await api().get(`${worker.path}/events?limit=3&after=${first.body.nextCursor}`);
      expect(next.body.items.map((e: { seq: number }) => e.seq)).toEqual([4, 5, 6]);
      const last = await api().get(`${worker.path}/events?limit=2&order=desc`);
      expect(last.body.items.map((e: { seq: number }) => e.seq)).toEqual([worker.head, worker.head - 1]);
      expect(
        (await api().get(`${worker.path}/events?after=${worker.head - 2}&limit=2`)).body.nextCursor,
      ).toBeNull();
    });

    it('pages steps without losing or doubling one', async () => {
      const worker = await long();
      const keys: string[] = [];
      let cursor: string | null = null;
      do {
        const { body } = await api().get(
          `${worker.path}/steps?limit=60${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        expect(body.total).toBe(200);
        keys.push(...body.items.map((step: { stepKey: string }) => step.stepKey));
        cursor = body.nextCursor;
      } while (cursor !== null);
      expect(new Set(keys).size).toBe(200);
      expect(keys).toHaveLength(200);
    });

    it('gives the newest messages first by page, numbered as in the conversation', async () => {
      const worker = await long();
      const { body: newest } = await api().get(`${worker.path}/messages?limit=5`);
      expect([newest.items.map((m: { n: number }) => m.n), newest.total]).toEqual([[16, 17, 18, 19, 20], 20]);
      const { body: above } = await api().get(`${worker.path}/messages?limit=5&before=${newest.nextCursor}`);
      expect(above.items.map((m: { n: number }) => m.n)).toEqual([11, 12, 13, 14, 15]);
      const { body: early } = await api().get(`${worker.path}/messages?at=50`);
      expect([early.total, early.nextCursor]).toEqual([2, null]);
    });

    it('lists runs by filter, sorted and by cursor, each once', async () => {
      const tag = `t-${randomUUID()}`;
      const ids: string[] = [];
      for (let n = 0; n < 7; n++) ids.push((await TestWorker.create(api(), { tags: [tag] })).runId);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const { body } = await api().get(
          `/api/v1/runs?tag=${tag}&sort=created&order=asc&limit=3${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        expect(body.total).toBe(7);
        seen.push(...body.items.map((run: { id: string }) => run.id));
        cursor = body.nextCursor;
      } while (cursor !== null);
      expect(seen).toEqual(ids);
      // A cursor goes on in its own order alone; anywhere else it would begin anew, or leave some out.
      const orders = ['updated', 'created', 'agent', 'status'].flatMap((sort) =>
        ['asc', 'desc'].map((order) => `sort=${sort}&order=${order}`),
      );
      for (const given of orders) {
        const { body } = await api().get(`/api/v1/runs?tag=${tag}&limit=3&${given}`);
        for (const asked of orders) {
          const next = await api().get(`/api/v1/runs?tag=${tag}&limit=3&${asked}&cursor=${body.nextCursor}`);
          expect(next).toMatchObject(
            asked === given
              ? { status: 200, body: { total: 7 } }
              : { status: 400, body: { errors: [{ path: 'query.cursor' }] } },
          );
        }
      }
      expect((await api().get(`/api/v1/runs?tag=${tag}&q=${ids[3]?.slice(4)}`)).body.items).toMatchObject([
        { id: ids[3] },
      ]);
      expect(
        (await api().get(`/api/v1/runs?tag=${tag}&from=${encodeURIComponent('2999-01-01T00:00:00Z')}`)).body
          .items,
      ).toEqual([]);
    });

    it('lists runs by what they are not, until now, and by whether they need a person; 0 asks for the total alone', async () => {
      const tag = `t-${randomUUID()}`;
      const other = `o-${randomUUID()}`;
      const kept = await TestWorker.create(api(), { tags: [tag] });
      await TestWorker.create(api(), { tags: [tag, other] });
      const found = async (query: string) => (await api().get(`/api/v1/runs?tag=${tag}&${query}`)).body;
      const notOther = await found(`notTag=${other}`);
      expect([notOther.total, notOther.items[0].id]).toEqual([1, kept.runId]);
      const [{ agent, source }] = notOther.items;
      expect((await found(`notAgent=${agent}`)).total).toBe(0);
      expect((await found(`source=${source}&notSource=langgraph`)).total).toBe(2);
      expect((await found('within=1h')).total).toBe(2);
      expect((await found('within=1h&from=2999-01-01T00:00:00Z')).total).toBe(0);
      expect((await found('inDoubt=true')).total).toBe(0);
      expect((await found('attention=false')).total).toBe(2);
      expect(await found('limit=0')).toEqual({ items: [], total: 2, nextCursor: null });
      for (const wrong of ['within=today', 'within=0h', 'within=1y', 'inDoubt=maybe', 'attention=1'])
        expect(await api().get(`/api/v1/runs?${wrong}`)).toMatchObject({
          status: 400,
          body: { errors: [{ path: `query.${wrong.split('=')[0]}` }] },
        });
    });
  },
  { leaseMs: 30_000 },
);
