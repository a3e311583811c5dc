import { startWorker } from '@/lib/sdk/index';

/*
 * A worker in a process of its own. `CHAOS_AT` names the point at which it sends `CHAOS_SIGNAL` to itself: a signal
 * to oneself is delivered before `kill` returns, so nothing after the point runs.
 */

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const passed: string[] = [];
const times = new Map<string, number>();
const signal = process.env['CHAOS_SIGNAL'] === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL';

function onPoint(point: string): void {
  const n = (times.get(point) ?? 0) + 1;
  times.set(point, n);
  const here = `${point}#${n}`;
  passed.push(here);
  if (here === process.env['CHAOS_AT']) process.kill(process.pid, signal);
}

interface Start {
  readonly kind: 'start';
  readonly agent: string;
  readonly runId: string;
  readonly input: unknown;
}

const say = (message: object) => process.send?.(message);

const worker = await startWorker({
  console: env('CHAOS_CONSOLE'),
  workerId: env('CHAOS_WORKER'),
  agents: env('CHAOS_AGENTS')
    .split(' ')
    .map((url) => new URL(url)),
  onPoint,
  backoff: { baseMs: 50, capMs: 200 },
});

process.on('message', (message: Start | { readonly kind: 'points' } | { readonly kind: 'stop' }) => {
  if (message.kind === 'points') say({ passed });
  else if (message.kind === 'stop') void worker.stop().then(() => process.exit(0));
  else {
    worker.start(message.agent, { runId: message.runId, input: message.input }).then(
      ({ runId }) => say({ started: runId }),
      (error: unknown) => say({ refused: String(error) }),
    );
  }
});
// Ends with the test that started it, whatever became of it.
process.on('disconnect', () => process.exit(0));
say({ ready: worker.workerId });
