import type { Capability, EngineDriver } from '@/lib/usecases/ports';

const can: ReadonlySet<Capability> = new Set([
  'resume',
  'rewind',
  'fork',
  'replay',
  'verify',
  'pause',
  'cancel',
  'answer',
]);

/**
 * Our own worker as an engine. It fetches its work, so driving it means waking whoever waits for some: workers in a
 * long poll, and holders' heartbeats (which read what the console appended from the journal).
 */
export function sdkWorkerEngine(): EngineDriver {
  const waiting = new Set<() => void>();
  return {
    id: 'sdk-worker',
    can,
    wake: () => {
      for (const woken of [...waiting]) woken();
    },
    waitForWork: (waitMs, signal) =>
      new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, waitMs);
        waiting.add(end);
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
      }),
  };
}
