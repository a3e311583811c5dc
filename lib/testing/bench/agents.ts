import type { Context, Llm, Message } from '@/lib/sdk/api';
import { defineAgent, tool } from '@/lib/sdk/index';
import { conversation } from './workload';

/* Agents that the bench runs through the SDK. Each does nothing but what is measured. */

const turns = conversation();

/** The checkpoints that are counted are asked for by the code. */
const checkpoints = { everySteps: 1_000_000, everyMs: 1_000_000_000 };
const end = { to: [], final: true, run: async () => undefined } as const;

const asked = (said: readonly Message[]) => said.filter(({ role }) => role === 'user').length;
/** What the assistant says after these messages: for a turn with a tool a call of it first. */
function answerTo(said: readonly Message[]): Message {
  const turn = turns[asked(said) - 1];
  return turn?.tool !== undefined && said.at(-1)?.role === 'user'
    ? {
        role: 'assistant',
        content: '',
        tool_calls: [{ name: 'search', args: { query: turn.tool.query } }],
      }
    : { role: 'assistant', content: turn?.assistant };
}

/** Over the peers' graph: agent → (tools → agent)?, one checkpoint a turn. `speak` says where the assistant's words come from. */
const conversationOver = (
  name: string,
  speak: (ctx: Context) => Promise<Message>,
  llms: Readonly<Record<string, Llm>> = {},
) =>
  defineAgent({
    name,
    initial: 'agent',
    checkpoints,
    llms,
    states: {
      agent: {
        to: ['agent', 'tools', 'end'],
        run: async (ctx) => {
          const said = ctx.messages.list();
          if (said.at(-1)?.role !== 'tool')
            ctx.messages.append({ role: 'user', content: turns[asked(said)]?.user });
          const answer = await speak(ctx);
          ctx.messages.append(answer);
          if (answer['tool_calls'] !== undefined) return 'tools';
          ctx.checkpoint();
          return asked(ctx.messages.list()) < turns.length ? 'agent' : 'end';
        },
      },
      tools: {
        to: ['agent'],
        run: async (ctx) => {
          const turn = turns[asked(ctx.messages.list()) - 1];
          ctx.messages.append({ role: 'tool', content: turn?.tool?.result });
          return 'agent';
        },
      },
      end,
    },
  });

/** The conversation of 200 turns, nothing but messages as state. */
export const conversationAgent = conversationOver('bench-conversation', async (ctx) =>
  answerTo(ctx.messages.list()),
);

/** The same where an `llm` step speaks, which is sent the whole conversation each time. */
export const llmConversationAgent = conversationOver(
  'bench-conversation-llm',
  async (ctx) => {
    const request = { messages: ctx.messages.list(), temperature: 0 };
    return (await ctx.llm('model', request)).message;
  },
  {
    model: {
      model: 'bench',
      client: {
        complete: async (request) => {
          const { messages } = request as { readonly messages: readonly Message[] };
          const usage = { inputTokens: 250 * messages.length, outputTokens: 200, costMicroUsd: 1_000 };
          return { message: answerTo(messages), usage, finish: 'stop' };
        },
      },
    },
  },
);

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
  checkpoints,
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
    end,
  },
});
