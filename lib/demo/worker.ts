import { type StartOptions, startWorker } from '@/lib/sdk/index';

/*
 * The process that hosts the desk. Its parent may ask it to start runs: `{ start: StartOptions }`, answered by
 * `{ started: runId }` or `{ failed: why }`. It ends with its parent.
 */

const consoleUrl = process.env['RERAIL_CONSOLE_URL'];
if (consoleUrl === undefined) throw new Error('RERAIL_CONSOLE_URL is not set');

// The whole group may be signalled, and then the supervisor signals us too: the second time must not end us in the
// middle of a hand-over. SIGINT is the supervisor's to carry out.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);

const worker = await startWorker({
  console: consoleUrl,
  agents: [new URL('./refund-desk.mjs', import.meta.url)],
});

process.on('message', ({ start }: { readonly start: StartOptions }) => {
  worker.start('refund-desk', start).then(
    ({ runId }) => process.send?.({ started: runId }),
    (error: unknown) => process.send?.({ failed: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => {
  void worker.stop().finally(() => process.exit(0));
});
process.send?.({ ready: worker.workerId });
