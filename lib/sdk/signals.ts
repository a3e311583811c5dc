import { type Clock, systemClock } from './clock';

/** A worker, as signals see it. */
export interface SignalledWorker {
  readonly stop: () => Promise<void>;
  /** What it still waits for while it stops, as a clause. */
  readonly left: () => string;
  readonly say: (line: string) => void;
}

/** What answering signals needs. */
export interface SignalDeps {
  readonly clock: Pick<Clock, 'mono'>;
  /** Those of this process. One that has stopped is taken out. */
  readonly workers: Set<SignalledWorker>;
  readonly exit: (code: number) => void;
}

/** One press of Ctrl-C may come twice: to the whole group, and once more from what started this process. */
const SAME_PRESS_MS = 500;
/** As a shell tells an end by SIGINT. */
const INTERRUPTED = 130;

/**
 * The first SIGTERM or SIGINT has every worker hand its runs over, and the process ends after the last of them. A SIGINT
 * after that ends it at once; a SIGTERM never does, since supervisors repeat themselves. Ending at once is as safe as a
 * crash: the intent of an effect is on disk before it leaves, so one that has no record yet is in doubt when the run is
 * taken up again.
 */
export function signalHandler({ clock, workers, exit }: SignalDeps): (signal: 'SIGTERM' | 'SIGINT') => void {
  let stoppedAt: number | undefined;
  let code = 0;
  const tell = (line: (left: string) => string) => {
    for (const worker of workers) worker.say(line(worker.left()));
  };
  const stop = async (worker: SignalledWorker) => {
    try {
      await worker.stop();
    } catch (error) {
      worker.say(`stopping failed: ${String(error)}`);
      code = 1;
    }
    workers.delete(worker);
  };
  const stopAll = async () => {
    // One may have been started since.
    while (workers.size > 0) await Promise.all([...workers].map(stop));
    exit(code);
  };
  return (signal) => {
    const now = clock.mono();
    if (stoppedAt === undefined) {
      stoppedAt = now;
      void stopAll();
    } else if (signal === 'SIGINT' && now - stoppedAt >= SAME_PRESS_MS) {
      tell((left) => `${signal} again: ended at once, while ${left}; what has no record is in doubt`);
      exit(INTERRUPTED);
      return;
    }
    tell((left) => `${signal}: handing the runs over, ${left}; Ctrl-C (SIGINT) once more ends at once`);
  };
}

const workers = new Set<SignalledWorker>();
let stopListening: () => void = () => undefined;

/** Has this process's signals stop the worker. Returns what takes it out again, once it has stopped by itself. */
export function onSignals(worker: SignalledWorker): () => void {
  if (workers.size === 0) stopListening = listen();
  workers.add(worker);
  return () => {
    if (workers.delete(worker) && workers.size === 0) stopListening();
  };
}

function listen(): () => void {
  const handle = signalHandler({ clock: systemClock, workers, exit: process.exit });
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, handle);
  return () => {
    for (const signal of signals) process.off(signal, handle);
  };
}
