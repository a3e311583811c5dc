import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, it, vi } from 'vitest';
import type { RunSummary } from './api-types';
import { listenToRun } from './live';
import { endedOrderQuery, verificationQuery } from './order-events';
import { planQuery } from './plan-queries';
import {
  bucketsQuery,
  checkpointsQuery,
  diffQuery,
  effectsQuery,
  eventsQuery,
  failuresQuery,
  graphQuery,
  machineQuery,
  messagesQuery,
  payloadQuery,
  runQuery,
  stateQuery,
  stepQuery,
  stepsQuery,
  stopsQuery,
} from './run-queries';
import { type Messages, readFrom } from './source';
import { workersQuery } from './workers';

afterEach(() => {
  readFrom(undefined);
  vi.unstubAllGlobals();
});

const run = { id: 'r', epoch: 1, line: 0, counts: { checkpoints: 1 } } as RunSummary;

it('reads everything of a run page from the source that was put in the place of the API', async () => {
  const overHttp = vi.fn(() => Promise.reject(new Error('the network was asked')));
  vi.stubGlobal('fetch', overHttp);
  vi.stubGlobal('EventSource', overHttp);
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  const asked: string[] = [];
  const heard: Messages[] = [];
  readFrom({
    fetch: async (url) => {
      asked.push(url);
      return Response.json({ items: [], total: 0, nextCursor: null });
    },
    listen: (url) => {
      asked.push(url);
      const messages = Object.assign(new EventTarget(), {
        onopen: null,
        onerror: null,
        onmessage: null,
        readyState: 1,
        close: () => undefined,
      }) as unknown as Messages;
      heard.push(messages);
      return messages;
    },
  });

  const client = new QueryClient();
  const reads = [
    () => client.fetchQuery(runQuery('r')),
    () => client.fetchQuery(stepsQuery(run)),
    () => client.fetchQuery(checkpointsQuery(run)),
    () => client.fetchQuery(stopsQuery('r')),
    () => client.fetchQuery(failuresQuery('r', 1)),
    () => client.fetchQuery(stepQuery('r', 'a#1/b#1')),
    () => client.fetchQuery(effectsQuery('r')),
    () => client.fetchQuery(graphQuery('r', 1)),
    () => client.fetchQuery(bucketsQuery('r')),
    () => client.fetchQuery(stateQuery('r', 1)),
    () => client.fetchQuery(diffQuery('r', 0, 1)),
    () => client.fetchQuery(messagesQuery('r', 1, 10)),
    () => client.fetchQuery(eventsQuery('r', 0, 1)),
    () => client.fetchQuery(payloadQuery('00')),
    () => client.fetchQuery(machineQuery('00')),
    () => client.fetchQuery(endedOrderQuery('r')),
    () => client.fetchQuery(verificationQuery('r', { runId: 'r', stepKey: 's', intentSeq: 1 } as never)),
    () => client.fetchQuery(planQuery('r', { mode: 'replay', from: 'start' })),
    () => client.fetchQuery(workersQuery),
  ];
  for (const read of reads) await read();
  const seqs: number[] = [];
  const end = listenToRun(
    'r',
    { after: 0, edition: 0 },
    {
      onItem: (event) => seqs.push(event.seq),
      onMissed: () => undefined,
      onReset: () => undefined,
      onLiveness: () => undefined,
    },
  );
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  heard[0]?.onmessage?.call(
    heard[0] as EventSource,
    Object.assign(new Event('message'), { lastEventId: '1', data: '{"seq":1}' }) as never,
  );
  end();

  expect(seqs).toEqual([1]);
  expect(asked).toHaveLength(reads.length + 1);
  expect(asked.filter((url) => !url.startsWith('/api/v1/'))).toEqual([]);
  expect(overHttp).not.toHaveBeenCalled();
});
