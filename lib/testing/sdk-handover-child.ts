import { defineAgent, startWorker, type ToolCall, tool } from '@/lib/sdk/index';

/*
 * A worker whose agent pays and then sends a receipt, both at a provider over HTTP. Arguments: the console's address,
 * the provider's, the tools' time-out in milliseconds and, for the one that shall begin the run `r`, `begin`. It says
 * what it warns of.
 */

const say = (line: string) => void process.stdout.write(`${line}\n`);
const [consoleUrl = '', provider = '', timeoutMs, task] = process.argv.slice(2);

const post = (path: string) => async (args: unknown, call: ToolCall) => {
  const response = await fetch(provider + path, {
    method: 'POST',
    headers: { 'idempotency-key': call.idempotencyKey ?? '' },
    body: JSON.stringify(args),
    signal: call.signal,
  });
  return response.json();
};
const external = {
  effect: 'external',
  keyed: true,
  timeoutMs: Number(timeoutMs),
  settlesWithinMs: 200,
} as const;

export const payer = defineAgent({
  name: 'payer',
  initial: 'work',
  tools: {
    pay: tool({ ...external, run: post('/payments') }),
    send_receipt: tool({ ...external, run: post('/receipts') }),
  },
  states: {
    work: {
      to: ['end'],
      tools: ['pay', 'send_receipt'],
      run: async (ctx) => {
        ctx.vars.set('paid', await ctx.tool('pay', { amount: 1 }));
        await ctx.tool('send_receipt', { for: ctx.vars.get('paid') });
        return 'end';
      },
    },
    end: { to: [], final: true, run: async (ctx) => ctx.vars.get('paid') },
  },
});

void startWorker({ console: consoleUrl, agents: [import.meta.url], onWarning: say }).then(async (worker) => {
  if (task === 'begin') await worker.start('payer', { runId: 'r' });
  say('up');
});
