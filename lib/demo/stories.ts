import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { standingOf, until } from './console-client';
import { type Environment, exitOf, messageWith, startPart } from './processes';
import type { RefundRequest } from './refund-desk';

/*
 * What there is to see on the first start: a run that completes, one that waits for a person, one that fails, and one
 * whose worker is killed between the provider's refund and the record of it. A story that was told is left; one that
 * was cut short, or came out otherwise, is told again as a run with a number to its name.
 */

interface Story {
  readonly name: string;
  readonly input: RefundRequest;
  /** Makes the run `runId` and sees it to where it shows what it is there to show; rejects where it does not get there. */
  readonly tell: (run: Run, stage: Stage) => Promise<void>;
}

/** A run as it is started. */
interface Run {
  readonly runId: string;
  readonly input: RefundRequest;
  readonly tags: readonly string[];
}

export interface Stage {
  readonly env: Environment;
  readonly payments: string;
  readonly shop: string;
  /** The worker that stays. */
  readonly worker: ChildProcess;
  /** Where it is kept which stories have not come to their end. */
  readonly demoDir: string;
  /** Told of the worker that one story kills, so that it is not left alive when the story is cut short. */
  readonly onDoomed: (worker: ChildProcess) => void;
  readonly isStopping: () => boolean;
}

const PATIENCE_MS = 60_000;
/** Not `interrupted`: a worker that was only slow is heard of again. */
const OVER = new Set(['completed', 'failed', 'cancelled']);

async function control(service: string, what: string, body: object): Promise<void> {
  const response = await fetch(`${service}/control/${what}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${service}/control/${what} answered ${response.status}`);
}

async function start(worker: ChildProcess, run: Run): Promise<void> {
  const started = messageWith<string>(worker, 'started');
  worker.send({ start: run });
  await started;
}

/** Waits until `holds`; a run that is over before rejects. */
async function seenThrough(
  runId: string,
  holds: (status: string, state: string | undefined) => Promise<boolean> | boolean,
): Promise<void> {
  let over: string | undefined;
  await until(`${runId} shows what it is there to show`, PATIENCE_MS, async () => {
    const { status, state } = (await standingOf(runId)) ?? { status: 'absent', state: undefined };
    if (await holds(status, state)) return true;
    over = OVER.has(status) ? `${status} in ${state}` : undefined;
    return over !== undefined;
  });
  if (over !== undefined) throw new Error(`it is ${over}`);
}

/** The ticket is locked by a colleague: the run fails after refund and mail. Afterwards it is free, so a resume ends well. */
async function tellFailed(run: Run, { worker, shop }: Stage): Promise<void> {
  const match = `/tickets/${run.input.ticket}/`;
  const message = `ticket ${run.input.ticket} is locked by a colleague`;
  await control(shop, 'faults', { match, answer: 423, times: 100, message });
  try {
    await start(worker, run);
    await seenThrough(run.runId, (status, state) => status === 'failed' && state === 'close');
  } finally {
    await control(shop, 'clear', { match });
  }
}

/** A worker of its own executes the run. The provider makes the refund and withholds its answer until the worker is dead. */
async function tellKilled(run: Run, { payments, env, onDoomed }: Stage): Promise<void> {
  const match = 'ORD-1003';
  const isHeld = () =>
    fetch(`${payments}/control/held?match=${match}`, { signal: AbortSignal.timeout(1_000) }).then(
      () => true,
      () => false,
    );
  await control(payments, 'faults', { match, answer: 'hold' });
  const doomed = startPart('worker', env);
  onDoomed(doomed);
  try {
    await messageWith(doomed, 'ready');
    await start(doomed, run);
    await seenThrough(run.runId, isHeld);
  } finally {
    doomed.kill('SIGKILL');
    await exitOf(doomed);
    await control(payments, 'release', { match });
  }
}

/** The worker that stays executes the run until it stands so. */
const tellUntil =
  (wanted: string) =>
  async (run: Run, { worker }: Stage): Promise<void> => {
    await start(worker, run);
    await seenThrough(run.runId, (status) => status === wanted);
  };

const story = (name: string, order: string, wish: string, tell: Story['tell']): Story => ({
  name,
  input: { ticket: order.replace('ORD', 'T'), request: `${wish} My order is ${order}.` },
  tell,
});

const STORIES: readonly Story[] = [
  story('killed', 'ORD-1003', 'The jacket and the base layer are too small. Please refund both.', tellKilled),
  story(
    'completed',
    'ORD-1001',
    'Both books are duplicates of what I have. Please refund them.',
    tellUntil('completed'),
  ),
  story('waiting', 'ORD-1002', 'The headset does not fit. I want to send it back.', tellUntil('waiting')),
  story('failed', 'ORD-1004', 'I ordered the wrong things, sorry. Can I have my money back?', tellFailed),
];

/** The first of `demo-NAME`, `demo-NAME-2` … that the console does not know. */
async function freeRunId(name: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const runId = n === 1 ? `demo-${name}` : `demo-${name}-${n}`;
    if ((await standingOf(runId)) === undefined) return runId;
  }
}

async function tellStory({ name, input, tell }: Story, stage: Stage): Promise<void> {
  const untold = join(stage.demoDir, `untold-${name}`);
  const runId = await freeRunId(name);
  if (runId !== `demo-${name}` && !existsSync(untold)) return;
  writeFileSync(untold, `${runId}\n`);
  await tell({ runId, input, tags: ['demo', name] }, stage);
  rmSync(untold);
}

/** Tells the stories that have not come to their end yet, one after the other. One that goes wrong is said and no more. */
export async function tellStories(stage: Stage): Promise<void> {
  for (const one of STORIES) {
    if (stage.isStopping()) return;
    await tellStory(one, stage).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      console.log(`demo: the story "${one.name}" did not come out: ${why}. The next start tells it again.`);
    });
  }
}
