// worker.ts
import { startWorker } from '@rerail/sdk';

const console_ = process.env['RERAIL_CONSOLE_URL'] ?? 'http://127.0.0.1:3000';
const worker = await startWorker({ console: console_, agents: [new URL('./agent.js', import.meta.url)] });
const { runId } = await worker.start('payer', { input: { id: 'in_7' } });
console.log(`${console_}/runs/${encodeURIComponent(runId)}`);
// It goes on taking what the console asks of it, such as a resume, until Ctrl-C.
