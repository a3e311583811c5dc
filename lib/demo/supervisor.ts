import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { untilConsole } from './console-client';
import { type Environment, exitOf, messageWith, startPart } from './processes';
import { type Stage, tellStories } from './stories';

/*
 * Runs the demo: four services on free ports, one worker, and on the first start the stories. `RERAIL_CONSOLE_URL`
 * names the console, `RERAIL_DATA_DIR` the data folder. SIGTERM lets the story that is being told come to its end and the
 * worker hand its runs over, then ends the rest.
 */

const RESTART_AFTER_MS = 1_000;
/** How long a stop waits for a story, of the ten seconds before a SIGKILL. */
const STORY_ENDS_WITHIN_MS = 4_000;
const dataDir = resolve(process.env['RERAIL_DATA_DIR'] ?? 'data');
const demoDir = join(dataDir, 'demo');
mkdirSync(demoDir, { recursive: true });

const services: ChildProcess[] = [];
let worker: ChildProcess | undefined;
let doomed: ChildProcess | undefined;
let telling: Promise<void> = Promise.resolve();
let stopping = false;

async function stop(code: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  await Promise.race([telling, new Promise((resolve) => setTimeout(resolve, STORY_ENDS_WITHIN_MS))]);
  // It is there to be killed: were it asked to hand over, it would wait for the refund's answer, which is held back.
  doomed?.kill('SIGKILL');
  if (worker !== undefined) {
    worker.kill('SIGTERM');
    await exitOf(worker);
  }
  for (const service of services) if (service.connected) service.disconnect();
  await Promise.all(services.map(exitOf));
  process.exit(code);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0));

async function startService(name: string): Promise<string> {
  const child = startPart(`services/${name}`, { RERAIL_DEMO_DIR: demoDir });
  services.push(child);
  child.once('exit', (code, signal) => {
    if (stopping) return;
    console.error(`demo: the ${name} service ended (${code ?? signal})`);
    void stop(1);
  });
  return messageWith<string>(child, 'url');
}

async function startServices(): Promise<Omit<Stage, 'worker'>> {
  const [payments, mail, shop, llm] = await Promise.all(
    ['payments', 'mail', 'shop', 'llm'].map((name) => startService(name)),
  );
  if (payments === undefined || mail === undefined || shop === undefined || llm === undefined) {
    throw new Error('a service told no address');
  }
  return {
    payments,
    shop,
    demoDir,
    isStopping: () => stopping,
    onDoomed: (child) => {
      doomed = child;
    },
    env: {
      RERAIL_DEMO_PAYMENTS_URL: payments,
      RERAIL_DEMO_MAIL_URL: mail,
      RERAIL_DEMO_SHOP_URL: shop,
      RERAIL_DEMO_LLM_URL: `${llm}/v1`,
    },
  };
}

/** The worker that stays; one that dies is replaced, as an operating system's service manager would. */
async function startWorker(env: Environment): Promise<ChildProcess> {
  const child = startPart('worker', env);
  worker = child;
  child.once('exit', (code, signal) => {
    if (stopping) return;
    console.error(`demo: the worker ended (${code ?? signal}) and is started again`);
    setTimeout(() => {
      if (!stopping) startWorker(env).catch((error: unknown) => console.error('demo:', error));
    }, RESTART_AFTER_MS);
  });
  await messageWith(child, 'ready');
  return child;
}

try {
  const started = await startServices();
  await untilConsole();
  const standing = await startWorker(started.env);
  telling = tellStories({ ...started, worker: standing });
  await telling;
  if (!stopping) console.log('demo: ready');
} catch (error) {
  console.error('demo:', error);
  await stop(1);
}
