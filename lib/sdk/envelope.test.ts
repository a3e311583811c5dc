import { describe, expect, test } from 'vitest';
import type { LabWorkerOptions } from '@/lib/testing/sdk-lab';
import { eventsOf, oneState, stages } from '@/lib/testing/sdk-stage';
import type { Agent, AgentOptions, Context, Llm } from './api';
import { Unavailable } from './errors';
import type { PlanToCheck } from './journal-port';

const stage = stages();
const { seen, begin, names } = stage;

/** Costs 40 millionths of a dollar at each reply. */
const chat: Llm = {
  model: 'atlas',
  client: {
    complete: async () => {
      stage.outside.push({ name: 'chat', key: undefined, args: undefined });
      await stage.lab.clock.delay(3);
      return { message: { role: 'assistant' }, usage: { costMicroUsd: 40 } };
    },
  },
};

/** Its first call never answers the first time that it is made; `work` follows. */
const agentOf = (limits: AgentOptions['limits'], work: (ctx: Context) => Promise<unknown>): Agent =>
  oneState(
    {
      first: seen('first', {
        effect: 'read',
        answer: (n) => (n === 1 ? new Promise(() => undefined) : Promise.resolve('it answers')),
      }),
      look: seen('look', {
        effect: 'read',
        answer: (n) => (n === 1 ? Promise.reject(new Unavailable('down')) : Promise.resolve(n)),
      }),
      pay: seen('pay', { effect: 'external', keyed: true }),
    },
    async (ctx) => {
      await ctx.tool('first');
      await work(ctx);
    },
    { llms: { chat }, ...(limits === undefined ? {} : { limits }) },
  );

/** Run `r` broke off in its first call, and its worker is one of these options now. */
async function brokenOff(agent: Agent, options: LabWorkerOptions = {}): Promise<void> {
  const first = await begin(agent);
  await stage.lab.until('r', () => names().includes('first'));
  first.kill();
  await stage.lab.until('r', (status) => status === 'interrupted');
  stage.workers.push(await stage.lab.worker([agent], options));
}

/** What went out since it broke off. */
const since = () => names().slice(1);

/** Resumes and waits until the run rests; resolves to what it paused before, or its status. */
async function resumed(): Promise<string | undefined> {
  await stage.lab.order('r', 'resume');
  await stage.lab.until('r', (status, _events, held) => ['paused', 'completed'].includes(status) && !held);
  const status = await stage.lab.status('r');
  const last = eventsOf(await stage.lab.events('r'), 'run.paused').at(-1);
  return status === 'paused' ? last?.before : status;
}

describe('an order stops before what its envelope does not hold', () => {
  /** A worker that is given plans with another envelope than its machine has. */
  const given = (change: (envelope: PlanToCheck['envelope']) => Partial<PlanToCheck['envelope']>) => ({
    port: (port: Parameters<NonNullable<LabWorkerOptions['port']>>[0]) => ({
      ...port,
      claim: async (...ask: Parameters<typeof port.claim>) => {
        const claim = await port.claim(...ask);
        if (claim?.plan === undefined) return claim;
        const { envelope } = claim.plan;
        return { ...claim, plan: { ...claim.plan, envelope: { ...envelope, ...change(envelope) } } };
      },
    }),
  });

  test('a tool: nothing is sent', async () => {
    const agent = agentOf(undefined, (ctx) => ctx.tool('pay'));
    const tools = (all: PlanToCheck['envelope']) => ({
      tools: all.tools.filter(({ name }) => name !== 'pay'),
    });
    await brokenOff(agent, given(tools));
    expect(await resumed()).toBe('tool:pay');
    expect(since()).toEqual(['first']);
    expect(eventsOf(await stage.lab.events('r'), 'step.started').some(({ name }) => name === 'pay')).toBe(
      false,
    );
  });

  test('a state: its code does not run', async () => {
    const agent = agentOf(undefined, (ctx) => ctx.tool('look'));
    const states = (all: PlanToCheck['envelope']) => ({
      states: all.states.filter((name) => name !== 'close'),
    });
    await brokenOff(agent, given(states));
    expect(await resumed()).toBe('state:close');
    expect(since()).toEqual(['first', 'look', 'look']);
    expect(eventsOf(await stage.lab.events('r'), 'state.entered').map(({ state }) => state)).toEqual([
      'work',
    ]);
  });
});

describe('the limits of an order', () => {
  test('of steps are shown in its plan, and stop it before the call beyond them; resuming allows as many again', async () => {
    await brokenOff(
      agentOf({ steps: 2 }, async (ctx) => {
        for (let n = 0; n < 2; n++) await ctx.tool('look', n);
        await ctx.tool('pay');
        await ctx.compute('sum', 1, (n) => n + 1);
        await ctx.tool('look', 3);
      }),
    );
    // A retry of the first look is no step of its own; what stands open in the record is in the plan by name.
    const before = await resumed();
    expect(before).toMatch(
      /^plan: The plan allowed 2 steps .*work#1\/pay#1 would be one more; resuming allows/,
    );
    expect(stage.lab.orders.at(-1)?.plan.envelope.limits).toEqual({ steps: 2 });
    expect(since()).toEqual(['first', 'look', 'look', 'look']);
    const ended = eventsOf(await stage.lab.events('r'), 'command.ended');
    expect(ended).toMatchObject([{ outcome: 'done' }]);
    expect(await resumed()).toContain('work#1/look#3 would be one more');
    expect(since()).toEqual(['first', 'look', 'look', 'look', 'pay']);
    expect(await resumed()).toBe('completed');
    expect(since()).toEqual(['first', 'look', 'look', 'look', 'pay', 'look']);
  });

  test('of cost stop it before the next question to a model once that much was spent, and nothing else', async () => {
    await brokenOff(
      agentOf({ costMicroUsd: 80 }, async (ctx) => {
        for (let n = 0; n < 2; n++) await ctx.llm('chat', { messages: [n] });
        await ctx.tool('look');
        await ctx.llm('chat', { messages: [3] });
      }),
    );
    expect(await resumed()).toMatch(
      /^plan: The plan allowed a cost of \$0.00008, and \$0.00008 was spent before work#1\/chat#3/,
    );
    expect(since()).toEqual(['first', 'chat', 'chat', 'look', 'look']);
    expect(await resumed()).toBe('completed');
    expect(since()).toEqual(['first', 'chat', 'chat', 'look', 'look', 'chat']);
  });

  test('are of orders: a run that nobody ordered, and one that goes on after an answer, has none', async () => {
    const look = seen('look', { effect: 'read' });
    const agent = oneState(
      { look },
      async (ctx) => {
        for (let n = 0; n < 2; n++) await ctx.tool('look', n);
        await ctx.ask('go', { prompt: 'go?' });
        for (let n = 0; n < 2; n++) await ctx.tool('look', n);
      },
      { limits: { steps: 1 } },
    );
    await begin(agent);
    await stage.lab.until('r', (status, _events, held) => status === 'waiting' && !held);
    await stage.answer('yes');
    await stage.lab.until('r', (status) => status === 'completed');
    expect(names().length).toBe(4);
  });
});
