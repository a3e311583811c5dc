import { defineAgent, tool } from '@/lib/sdk/index';
import { conversation } from './workload';

/* Agents that the bench runs through the SDK. Each does nothing but what is measured. */

const turns = conversation();

/** The conversation of 200 turns over the peers' graph: agent → (tools → agent)?, a checkpoint each turn, nothing but messages as state. */
export const conversationAgent = defineAgent({
  name: 'bench-conversation',
  initial: 'agent',
  // The checkpoints that are counted are asked for by the code.
  checkpoints: { everySteps: 1_000_000, everyMs: 1_000_000_000 },
  states: {
    agent: {
      to: ['agent', 'tools', 'end'],
      run: async (ctx) => {
        const said = ctx.messages.list();
        const asked = said.filter((message) => message.role === 'user').length;
        const afterTool = said.at(-1)?.role === 'tool';
        const n = afterTool ? asked - 1 : asked;
        const turn = turns[n];
        if (!afterTool) {
          ctx.messages.append({ role: 'user', content: turn?.user });
          if (turn?.tool !== undefined) {
            const call = { name: 'search', args: { query: turn.tool.query } };
            ctx.messages.append({ role: 'assistant', content: '', tool_calls: [call] });
            return 'tools';
          }
        }
        ctx.messages.append({ role: 'assistant', content: turn?.assistant });
        ctx.checkpoint();
        return n + 1 < turns.length ? 'agent' : 'end';
      },
    },
    tools: {
      to: ['agent'],
      run: async (ctx) => {
        const asked = ctx.messages.list().filter((message) => message.role === 'user').length;
        ctx.messages.append({ role: 'tool', content: turns[asked - 1]?.tool?.result });
        return 'agent';
      },
    },
    end: { to: [], final: true, run: async () => undefined },
  },
});

const samples: number[] = [];
/** Milliseconds of each recorded step of the newest run of `stepsAgent`. */
export const takeSamples = (): readonly number[] => samples.splice(0);

/**
 * Steps that are durable before they go on: an idempotent call does not leave before its intent, and with it everything
 * before, the last step's result included, is synced. One recorded step is one append over HTTP to disk.
 */
export const stepsAgent = defineAgent({
  name: 'bench-steps',
  initial: 'work',
  checkpoints: { everySteps: 1_000_000, everyMs: 1_000_000_000 },
  tools: {
    noop: tool({
      effect: 'idempotent',
      keyed: true,
      run: async (args: { readonly i: number }) => ({ i: args.i, note: 'x'.repeat(100) }),
    }),
  },
  states: {
    work: {
      to: ['end'],
      tools: ['noop'],
      run: async (ctx) => {
        for (let i = 0; i < (ctx.input as { steps: number }).steps; i++) {
          const began = performance.now();
          await ctx.tool('noop', { i });
          samples.push(performance.now() - began);
        }
        return 'end';
      },
    },
    end: { to: [], final: true, run: async () => undefined },
  },
});
