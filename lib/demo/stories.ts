import type { ChildProcess } from 'node:child_process';
import { statusOf, until } from './console-client';
import { type Environment, exitOf, messageWith, startPart } from './processes';
import type { RefundRequest } from './refund-desk';

/*
 * What there is to see on the first start: a run that completes, one that waits for a person, one that fails, and one
 * whose worker is killed between the provider's refund and the record of it. A story that is there already is left.
 */

interface Story {
  readonly runId: string;
  readonly input: RefundRequest;
  readonly tags: readonly string[];
}

const story = (name: string, order: string, wish: string): Story => ({
  runId: `demo-${name}`,
  input: { ticket: order.replace('ORD', 'T'), request: `${wish} My order is ${order}.` },
  tags: ['demo', name],
});

export const STORIES = {
  completed: story('completed', 'ORD-1001', 'Both books are duplicates of what I have. Please refund them.'),
  waiting: story('waiting', 'ORD-1002', 'The headset does not fit. I want to send it back.'),
  killed: story('killed', 'ORD-1003', 'The jacket and the base layer are too small. Please refund both.'),
  failed: story('failed', 'ORD-1004', 'I ordered the wrong things, sorry. Can I have my money back?'),
} as const satisfies Record<string, Story>;

export interface Services {
  readonly env: Environment;
  readonly payments: string;
  readonly shop: string;
  /** Told of the worker that one story kills, so that it is not left alive when the story is cut short. */
  readonly onDoomed: (worker: ChildProcess) => void;
}

const PATIENCE_MS = 60_000;

async function control(service: string, what: string, body: object): Promise<void> {
  const response = await fetch(`${service}/control/${what}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${service}/control/${what} answered ${response.status}`);
}

const untilStatus = (runId: string, status: string) =>
  until(`${runId} is ${status}`, PATIENCE_MS, async () => (await statusOf(runId)) === status);

async function start(worker: ChildProcess, { runId, input, tags }: Story): Promise<void> {
  const started = messageWith<string>(worker, 'started');
  worker.send({ start: { runId, input, tags } });
  await started;
}

/** The ticket is locked by a colleague: the run fails after refund and mail. Afterwards it is free, so a resume ends well. */
async function tellFailed(worker: ChildProcess, services: Services): Promise<void> {
  const match = `/tickets/${STORIES.failed.input.ticket}/`;
  const message = `ticket ${STORIES.failed.input.ticket} is locked by a colleague`;
  await control(services.shop, 'faults', { match, answer: 423, times: 100, message });
  await start(worker, STORIES.failed);
  await untilStatus(STORIES.failed.runId, 'failed');
  await control(services.shop, 'clear', { match });
}

/** A worker of its own executes the run. The provider makes the refund and withholds its answer until the worker is dead. */
async function tellKilled(services: Services): Promise<void> {
  const match = 'ORD-1003';
  await control(services.payments, 'faults', { match, answer: 'hold' });
  const doomed = startPart('worker', services.env);
  services.onDoomed(doomed);
  try {
    await messageWith(doomed, 'ready');
    await start(doomed, STORIES.killed);
    await fetch(`${services.payments}/control/held?match=${match}`, {
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } finally {
    doomed.kill('SIGKILL');
    await exitOf(doomed);
    await control(services.payments, 'release', { match });
  }
}

/** Tells the stories that the console does not know yet. */
export async function tellStories(worker: ChildProcess, services: Services): Promise<void> {
  const isNew = async (of: Story) => (await statusOf(of.runId)) === undefined;
  if (await isNew(STORIES.killed)) await tellKilled(services);
  if (await isNew(STORIES.completed)) await start(worker, STORIES.completed);
  if (await isNew(STORIES.waiting)) await start(worker, STORIES.waiting);
  if (await isNew(STORIES.failed)) await tellFailed(worker, services);
}
