import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type ApiClient, deskDigest, hash, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';
import { asUploaded } from '@/lib/testing/uploaded-run';

const REFUND = 'plan#1/create_refund#1';

interface Ref {
  readonly sha256: string;
  readonly bytes: number;
  readonly codec: string;
}
type Text = string;

/** References that do not say of these bytes what they are. */
const wrongRefs: Readonly<
  Record<string, { readonly text: (id: Text) => Text; readonly ref: (ref: Ref) => Ref }>
> = {
  'more bytes': { text: (id) => `"${id}"`, ref: (ref) => ({ ...ref, bytes: ref.bytes + 1 }) },
  'no bytes': { text: (id) => `"${id}"`, ref: (ref) => ({ ...ref, bytes: 0 }) },
  'characters for bytes': { text: (id) => `"é${id}"`, ref: (ref) => ({ ...ref, bytes: ref.bytes - 1 }) },
  'text for JSON': { text: (id) => `not JSON ${id}`, ref: (ref) => ({ ...ref, codec: 'json' }) },
  'deflated, more bytes': {
    text: (id) => JSON.stringify('x'.repeat(5_000) + id),
    ref: (ref) => ({ ...ref, bytes: ref.bytes - 4_000 }),
  },
};

describeConsole(
  'references to payloads',
  ({ api, console }) => {
    const refTo = (text: Text): Ref => ({
      sha256: hash(text),
      bytes: Buffer.byteLength(text),
      codec: text.startsWith('"') ? 'json' : 'text',
    });
    const inline = (text: Text) => ({ sha256: hash(text), codec: refTo(text).codec, text });
    const store = (text: Text, codec = refTo(text).codec) =>
      api().send('PUT', `/api/v1/payloads/${hash(text)}?codec=${codec}`, text, {});
    const message = (ref: Ref) => ({ kind: 'message.appended', role: 'user', message: ref });

    /** Every way in which a caller gives a reference; each must be refused for what the reference says. */
    const ways: Readonly<
      Record<string, (ref: Ref, text: Text) => Promise<{ status: number; body: unknown }>>
    > = {
      'a batch that brings the payload': async (ref, text) => {
        const worker = await TestWorker.create(api());
        const body = { ...worker.batch([message(ref)]), payloads: [inline(text)] };
        return api().post(`${worker.path}/events`, body);
      },
      'a batch that refers to a stored one': async (ref, text) => {
        await store(text);
        const worker = await TestWorker.create(api());
        return api().post(`${worker.path}/events`, worker.batch([message(ref)]));
      },
      'a batch beside a right reference to the same payload': async (ref, text) => {
        await store(text);
        const worker = await TestWorker.create(api());
        return api().post(`${worker.path}/events`, worker.batch([message(refTo(text)), message(ref)]));
      },
      'batches of several runs': async (ref, text) => {
        await store(text);
        const worker = await TestWorker.create(api());
        const { body } = await api().post('/api/v1/events', {
          batches: [{ ...worker.batch([message(ref)]), runId: worker.runId }],
        });
        return { status: body.items[0].status, body: body.items[0].problem };
      },
      'a writer without a lease': async (ref, text) => {
        await store(text);
        const worker = await TestWorker.create(api());
        await asUploaded(console().store, worker.runId);
        return api().post(`${worker.path}/events`, { expectedSeq: 1, events: [message(ref)] });
      },
      'a writer without a lease that brings the payload': async (ref, text) => {
        const worker = await TestWorker.create(api());
        await asUploaded(console().store, worker.runId);
        const body = { expectedSeq: 1, events: [message(ref)], payloads: [inline(text)] };
        return api().post(`${worker.path}/events`, body);
      },
      'the input of a new run': async (ref, text) => {
        await TestWorker.create(api());
        await store(text);
        const runId = `run-${randomUUID()}`;
        const made = await api().post('/api/v1/runs', {
          runId,
          workerId: 'w1',
          agent: 'desk',
          machineDigest: deskDigest,
          input: { ref },
        });
        expect((await api().get(`/api/v1/runs/${runId}`)).status).toBe(404);
        return made;
      },
      'the result of evidence': async (ref, text) => {
        await store(text);
        const worker = await TestWorker.create(api());
        const intentSeq = await worker
          .write(worker.enter('plan'), worker.external(REFUND))
          .then((at) => at + 1);
        const { epoch } = worker;
        const evidence = { epoch, intentSeq, outcome: 'happened', result: { ref } };
        return api().post(`${worker.path}/evidence`, evidence);
      },
    };
    const cases = Object.entries(ways).flatMap(([way, give]) =>
      Object.entries(wrongRefs).map(([what, wrong]) => ({ way, give, what, wrong })),
    );

    it.each(cases)('$way: $what is refused', async ({ give, wrong }) => {
      const text = wrong.text(randomUUID());
      const reply = await give(wrong.ref(refTo(text)), text);
      expect(reply).toMatchObject({
        status: 400,
        body: { type: 'urn:rerail:problem:bad-payload', detail: expect.stringContaining(hash(text)) },
      });
    });

    it('a payload is read as each reference to it says, whoever stored it first, and as what', async () => {
      const value = { amount: 148 };
      const text = JSON.stringify({ ...value, id: randomUUID() });
      const changed = JSON.stringify({ ...JSON.parse(text), amount: 133.2 });
      for (const one of [text, changed])
        expect(await store(one, 'bytes')).toMatchObject({ status: 200, body: { codec: 'bytes' } });
      const asJson = (one: Text): Ref => ({ ...refTo(one), codec: 'json' });
      const worker = await TestWorker.create(api(), { input: JSON.parse(text) });
      const patch = (op: string, one: Text) => ({
        kind: 'variables.patched',
        patch: [{ op, path: '/order', value: asJson(one) }],
      });
      await worker.write(worker.enter('plan'), patch('add', text));
      await worker.write(patch('replace', changed));
      expect((await api().get(`${worker.path}/diff?from=3`)).body.changes).toEqual([
        expect.objectContaining({ path: '/variables/order/amount' }),
      ]);
      const typeOf = async (query: string) =>
        (await api().get(`/api/v1/payloads/${hash(text)}${query}`)).headers.get('content-type');
      expect(await Promise.all(['?codec=json', '?codec=text', '?codec=bytes'].map(typeOf))).toEqual([
        'application/json',
        'text/plain; charset=utf-8',
        'application/octet-stream',
      ]);
      const edits = [{ path: '/input/amount', value: 1 }];
      await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } });
      const plan = await api().plan(worker.runId, { mode: 'fork', from: 'start', edits });
      expect(
        await api().command(worker.runId, {
          mode: 'fork',
          from: 'start',
          edits,
          planDigest: plan.body.digest,
        }),
      ).toMatchObject({ status: 202 });
      await uploadsElsewhere(api(), worker.path);
    });

    it('a codec in which the bytes cannot be read is refused', async () => {
      const text = `not JSON ${randomUUID()}`;
      await store(text);
      expect(await api().get(`/api/v1/payloads/${hash(text)}?codec=json`)).toMatchObject({
        status: 400,
        body: { type: 'urn:rerail:problem:bad-payload' },
      });
    });
  },
  { leaseMs: 30_000 },
);

/** What this console wrote can be read by another, which writes the same of it. */
async function uploadsElsewhere(api: ApiClient, path: string): Promise<void> {
  const elsewhere = await startTestConsole({ store: memoryStore() });
  try {
    const file = await (await fetch(`${api.url}${path}/export`)).text();
    const upload = await fetch(`${elsewhere.url}/api/v1/traces`, { method: 'POST', body: file });
    expect(upload.status).toBe(201);
    expect(await (await fetch(`${elsewhere.url}${path}/export`)).text()).toBe(file);
  } finally {
    await elsewhere.close();
  }
}
