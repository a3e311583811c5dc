import { defineAgent, startWorker, tool } from '@/lib/sdk/index';

/* A worker whose only call never answers: what a person who stops it waits for. Its argument is the console's address. */

const say = (line: string) => void process.stdout.write(`${line}\n`);

export const payer = defineAgent({
  name: 'payer',
  initial: 'work',
  tools: {
    pay: tool({
      effect: 'external',
      run: () => {
        say('sent');
        return new Promise<never>(() => undefined);
      },
    }),
  },
  states: {
    work: {
      to: ['end'],
      tools: ['pay'],
      run: async (ctx) => {
        await ctx.tool('pay', { amount: 1 });
        return 'end';
      },
    },
    end: { to: [], final: true, run: async () => undefined },
  },
});

void startWorker({ console: process.argv[2] ?? '', agents: [import.meta.url], onWarning: say }).then(
  (worker) => worker.start('payer', { runId: 'r' }),
);
