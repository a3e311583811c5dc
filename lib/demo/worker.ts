import { type StartOptions, startWorker } from '@/lib/sdk/index';

/*
 * The process that hosts the desk. Its parent may ask it to start runs: `{ start: StartOptions }`, answered by
 * `{ started: runId }` or `{ failed: why }`. It ends with its parent.
 */

const consoleUrl = process.env['RERAIL_CONSOLE_URL'];
if (consoleUrl === undefined) throw new Error('RERAIL_CONSOLE_URL is not set');

// A parent that is gone before the worker is up leaves nothing to hand over.
const endEarly = () => process.exit(0);
process.once('disconnect', endEarly);

// Signals are the SDK's: it hands the runs over at the first, and takes no second SIGTERM for a reason to hurry.
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
process.off('disconnect', endEarly);
process.once('disconnect', () => {
  void worker.stop().finally(() => process.exit(0));
});
process.send?.({ ready: worker.workerId });
