import type { Context, Llm, Message, Tool } from '@/lib/sdk/api';
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
/** Milliseconds of each step of the newest run. */
export const takeSamples = (): readonly number[] => samples.splice(0);

let onAppended: () => void = () => undefined;
/** To be told of every append that the console acknowledged, which it does once it is synced to disk. */
export const appended = (): void => onAppended();
const nextAppend = () =>
  new Promise<void>((resolve) => {
    onAppended = resolve;
  });

const stepsOf = (ctx: Context) => (ctx.input as { readonly steps: number }).steps;

/** The peers' step: a no-op that returns `{ i, 100 characters }`. */
const step = (ctx: Context, i: number) => ctx.compute('noop', i, (n) => ({ i: n, body: 'x'.repeat(100) }));

const agentOf = (
  name: string,
  run: (ctx: Context) => Promise<void>,
  tools: Readonly<Record<string, Tool>> = {},
) =>
  defineAgent({
    name,
    initial: 'work',
    checkpoints,
    tools,
    states: {
      work: {
        to: ['end'],
        tools: Object.keys(tools),
        run: async (ctx) => {
          await run(ctx);
          return 'end';
        },
      },
      end,
    },
  });

/**
 * From asking for a step until its result is on disk, which the code does not wait for by itself: it goes on when the
 * append was acknowledged. One step, one append.
 */
export const durableStepsAgent = agentOf('bench-steps-durable', async (ctx) => {
  for (let i = 0; i < stepsOf(ctx); i++) {
    const isOnDisk = nextAppend();
    const began = performance.now();
    await step(ctx, i);
    await isOnDisk;
    samples.push(performance.now() - began);
  }
});

/** What the code itself waits for around a step; the journal follows. */
export const seenStepsAgent = agentOf('bench-steps-seen', async (ctx) => {
  for (let i = 0; i < stepsOf(ctx); i++) {
    const began = performance.now();
    await step(ctx, i);
    samples.push(performance.now() - began);
  }
});

/** Calls that do not leave before their intent, and with it the result of the call before, is on disk. */
export const effectsAgent = agentOf(
  'bench-steps-effect',
  async (ctx) => {
    for (let i = 0; i < stepsOf(ctx); i++) {
      const began = performance.now();
      await ctx.tool('noop', { i });
      samples.push(performance.now() - began);
    }
  },
  {
    noop: tool({
      effect: 'idempotent',
      keyed: true,
      run: async (args: { readonly i: number }) => ({ i: args.i, body: 'x'.repeat(100) }),
    }),
  },
);
