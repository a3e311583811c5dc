import { startWorker, type Worker } from '@/lib/sdk/index';

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

/** One more worker in this process, under an id of its own. */
interface Host {
  readonly kind: 'host';
  readonly workerId: string;
  readonly agents: string;
}

const open = (workerId: string, agents: string) =>
  startWorker({
    console: env('CHAOS_CONSOLE'),
    workerId,
    agents: agents.split(' ').map((url) => new URL(url)),
    onPoint,
    backoff: { baseMs: 50, capMs: 200 },
  });

const worker = await open(env('CHAOS_WORKER'), env('CHAOS_AGENTS'));
const guests = new Map<string, Worker>();

type Message =
  | Start
  | Host
  | { readonly kind: 'leave'; readonly workerId: string }
  | { readonly kind: 'points' }
  | { readonly kind: 'stop' };

process.on('message', (message: Message) => {
  switch (message.kind) {
    case 'points':
      say({ passed });
      return;
    case 'stop':
      void worker.stop().then(() => process.exit(0));
      return;
    case 'host':
      void open(message.workerId, message.agents).then((guest) => {
        guests.set(message.workerId, guest);
        say({ [`hosts ${message.workerId}`]: true });
      });
      return;
    case 'leave':
      void guests.get(message.workerId)?.stop();
      guests.delete(message.workerId);
      return;
    case 'start':
      worker.start(message.agent, { runId: message.runId, input: message.input }).then(
        ({ runId }) => say({ started: runId }),
        (error: unknown) => say({ refused: String(error) }),
      );
  }
});
// Ends with the test that started it, whatever became of it.
process.on('disconnect', () => process.exit(0));
say({ ready: worker.workerId });
