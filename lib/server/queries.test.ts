import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { routes } from './routes';

/** What a parameter takes: values that are answered, and values that are refused with its name. */
interface Values {
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

/** Digits and nothing else: a text that another number grammar reads must not become another number. */
const notDecimal = [
  '',
  ' ',
  '%20',
  '1e1',
  '0x10',
  '-1',
  '%2B1',
  '1.0',
  '01',
  'NaN',
  'x',
  '1,2',
  '99999999999',
];
const seq: Values = { good: ['0', '1', '2147483647'], bad: notDecimal };
const count = (most: number): Values => ({
  good: ['1', String(most)],
  bad: [...notDecimal, '0', String(most + 1)],
});
const instant: Values = {
  good: ['0', '1764450000000', '2026-11-29T22:00:00Z', '2026-11-29T22:00:00%2B05:00'],
  bad: ['', ' ', '1e1', '0x10', '-1', '2026-11-29', 'yesterday', '2026-11-29T22:00:00'],
};
const oneOf = (...good: readonly string[]): Values => ({ good, bad: ['', 'nope', good.join(',')] });
/** A text that is looked for; none looks for nothing in particular. */
const text: Values = { good: ['', 'a', 'a,b', '100%25'], bad: ['x'.repeat(257)] };
const names: Values = { good: ['', 'a', 'a,b'], bad: ['%00', 'x'.repeat(257)] };
const cursor: Values = { good: [], bad: ['', 'garbage', 'WzEsMl0', 'x'.repeat(5_000)] };
const whole = { limit: count(20_000), cursor };

/** Every parameter of every route that reads one; what is not here takes none. */
const documented: Readonly<Record<string, Readonly<Record<string, Values>>>> = {
  '/api/v1/audit': {
    actor: names,
    action: { good: ['', 'resume', 'resume,sign-in'], bad: ['nope', 'resume,nope'] },
    run: { good: ['r'], bad: ['', '.', '..', '%00'] },
    q: text,
    from: instant,
    to: instant,
    limit: count(1_000),
    cursor,
  },
  '/api/v1/runs': {
    status: { good: ['', 'failed', 'failed,completed', 'failed,'], bad: ['nope', 'failed,nope'] },
    agent: names,
    tag: names,
    q: text,
    failure: text,
    from: instant,
    to: instant,
    notAgent: names,
    notTag: names,
    source: names,
    notSource: names,
    inDoubt: oneOf('true', 'false'),
    attention: oneOf('true', 'false'),
    within: { good: ['90m', '24h', '7d'], bad: ['', '1', '0h', '-1h', '1w', 'day'] },
    root: { good: ['r'], bad: ['', '.', '..', '%00'] },
    sort: oneOf('updated', 'created', 'agent', 'status'),
    order: oneOf('asc', 'desc'),
    // None asks for the total alone.
    limit: { good: ['0', '1', '1000'], bad: [...notDecimal, '1001'] },
    cursor,
  },
  '/api/v1/runs/[runId]/events': {
    after: seq,
    before: seq,
    limit: count(10_000),
    kinds: { good: ['', 'run.started', 'run.started,step.started'], bad: ['nope', 'run.started,nope'] },
    order: oneOf('asc', 'desc'),
  },
  '/api/v1/runs/[runId]/buckets': { n: count(2_000), ...whole },
  '/api/v1/runs/[runId]/steps': {
    limit: count(20_000),
    cursor: { good: ['0', '1'], bad: notDecimal },
  },
  '/api/v1/runs/[runId]/checkpoints': whole,
  '/api/v1/runs/[runId]/questions': whole,
  '/api/v1/runs/[runId]/effects': { at: seq, ...whole },
  '/api/v1/runs/[runId]/messages': { at: seq, before: seq, limit: count(10_000) },
  '/api/v1/runs/[runId]/graph': { at: seq },
  '/api/v1/runs/[runId]/state': { at: seq },
  '/api/v1/runs/[runId]/diff': { from: seq, to: seq },
  '/api/v1/payloads/[sha256]': { codec: oneOf('json', 'text', 'bytes') },
  '/api/v1/stream': {
    run: { good: [], bad: ['', '.', '%00'] },
    after: { good: [], bad: notDecimal },
    edition: { good: [], bad: notDecimal },
  },
  '/api/v1/workers': whole,
};

/** Without these the route refuses the request for another reason. */
const needed: Readonly<Record<string, string>> = { '/api/v1/runs/[runId]/diff': 'from=1' };

describe('the query of every route', () => {
  let running: TestConsole;
  let api: ApiClient;
  const known: Record<string, string> = {};
  beforeAll(async () => {
    running = await startTestConsole({ store: memoryStore() });
    api = new ApiClient(running.url);
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1'));
    known['runId'] = worker.runId;
    known['key'] = encodeURIComponent('plan#1/lookup#1');
    const { body: state } = await api.get(`${worker.path}/state`);
    known['sha256'] = state.input.sha256;
    known['digest'] = (await api.get(worker.path)).body.machineDigest;
    const { body: share } = await api.post(`${worker.path}/shares`, {});
    known['secret'] = share.path.split('/').at(-1);
    known['path'] = `runs/${worker.runId}`;
  });
  afterAll(async () => running.close());

  const pathOf = (route: string) =>
    route.replace(/\[(?:\.\.\.)?(\w+)\]/g, (_, name: string) => known[name] ?? name);
  const reading = routes.filter(([, module]) => module.GET !== undefined).map(([route]) => route);
  const ask = (route: string, name: string, value: string) => {
    const rest = (needed[route] ?? '').startsWith(`${name}=`) ? undefined : needed[route];
    return api.get(
      `${pathOf(route)}?${[rest, `${name}=${value}`].filter((part) => part !== undefined).join('&')}`,
    );
  };
  const of = (kind: keyof Values) =>
    Object.entries(documented).flatMap(([route, parameters]) =>
      Object.entries(parameters).flatMap(([name, values]) =>
        values[kind].map((value) => ({ route, name, value })),
      ),
    );

  it('is documented here for routes that there are', () => {
    expect(reading).toEqual(expect.arrayContaining(Object.keys(documented)));
  });

  it.each(of('good'))('$route takes $name=$value', async ({ route, name, value }) => {
    expect(await ask(route, name, value)).toMatchObject({ status: 200 });
  });

  it.each(of('bad'))('$route refuses $name=$value by name', async ({ route, name, value }) => {
    const reply = await ask(route, name, value);
    expect(reply).toMatchObject({ status: 400, body: { type: 'urn:rerail:problem:invalid-request' } });
    expect(reply.body.errors[0].path).toMatch(new RegExp(`^query\\.${name}(\\.|$)`));
  });

  it.each(reading.filter((route) => route !== '/api/v1/stream'))(
    '%s refuses a parameter that it does not know, rather than answer without it',
    async (route) => {
      expect((await api.get(`${pathOf(route)}?${needed[route] ?? ''}`)).status).toBe(200);
      expect(await ask(route, 'stauts', 'failed')).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'query', message: expect.stringContaining('stauts') }] },
      });
    },
  );

  it.each(
    routes.flatMap(([route, module]) =>
      (['POST', 'PUT'] as const).filter((m) => module[m] !== undefined).map((method) => ({ method, route })),
    ),
  )('$method $route refuses a parameter that it does not know', async ({ method, route }) => {
    const reply = await api.send(method, `${pathOf(route)}?formta=x`, '{}', {});
    // Exporters are told a `google.rpc.Status`.
    const told =
      route === '/v1/traces'
        ? { code: 3, message: expect.stringMatching(/query: .*formta/) }
        : { errors: [{ path: 'query' }] };
    expect(reply).toMatchObject({ status: 400, body: told });
  });
});

describe('filters by name', () => {
  it('take names with commas, one a parameter, and any of several agents but all of several tags', async () => {
    const running = await startTestConsole({ store: memoryStore() });
    try {
      const api = new ApiClient(running.url);
      const comma = await TestWorker.create(api, { tags: ['a,b'] });
      const both = await TestWorker.create(api, { tags: ['a', 'b'] });
      const found = async (query: string) =>
        (await api.get(`/api/v1/runs?${query}`)).body.items.map((run: { id: string }) => run.id).sort();
      expect(await found('tag=a,b')).toEqual([comma.runId]);
      expect(await found('tag=a&tag=b')).toEqual([both.runId]);
      expect(await found('tag=&tag=a')).toEqual([both.runId]);
      expect(await found('tag=')).toEqual([comma.runId, both.runId].sort());
      expect(await found('status=')).toEqual([comma.runId, both.runId].sort());
      expect(await found('agent=desk&agent=other')).toEqual([comma.runId, both.runId].sort());
      expect(await found('agent=desk,other')).toEqual([]);
    } finally {
      await running.close();
    }
  });
});
