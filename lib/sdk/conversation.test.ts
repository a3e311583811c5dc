import { describe, expect, test } from 'vitest';
import type { Sha256 } from '@/lib/core/events/ids';
import { fullRequest, joinReply } from '@/lib/core/events/llm-texts';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { digestOf } from '@/lib/core/events/value-codec';
import { end, eventsOf, stages } from '@/lib/testing/sdk-stage';
import type { Agent, Context, LlmReply, Message } from './api';
import { defineAgent } from './define-agent';
import { hash } from './hash';

const stage = stages();

const TURNS = 40;
const words = (who: string, n: number) => `${who} says ${String(n).padStart(3, '0')} ${'x'.repeat(380)}`;

/** What the model was asked and what code was given, in order; what a resume gives again is the same. */
let requests: string[] = [];
let replies: LlmReply[] = [];

function talker(work: (ctx: Context) => Promise<unknown>): Agent {
  return defineAgent({
    name: 'a',
    initial: 'talk',
    states: {
      talk: {
        to: ['close'],
        run: async (ctx) => {
          await work(ctx);
          return 'close';
        },
      },
      close: end,
    },
    llms: {
      model: {
        model: 'm',
        client: {
          complete: async (request) => {
            requests.push(JSON.stringify(request));
            const { messages } = request as { messages: readonly unknown[] };
            return {
              message: { role: 'assistant', content: words('model', messages.length) },
              usage: { inputTokens: messages.length, outputTokens: 100 },
              finish: 'stop',
            };
          },
        },
      },
    },
  });
}

/** One turn: what the user says, and the model's answer to everything so far. */
async function turn(ctx: Context, n: number): Promise<void> {
  ctx.messages.append({ role: 'user', content: words('user', n) });
  const reply = await ctx.llm('model', {
    model: 'm',
    messages: ctx.messages.list(),
    temperature: 0,
  });
  replies.push(reply);
  ctx.messages.append(reply.message);
}

const conversation = (turns: number) =>
  talker(async (ctx) => {
    for (let n = 0; n < turns; n++) await turn(ctx, n);
  });

async function textOf(sha256: Sha256): Promise<string> {
  const stored = await stage.lab.deps.store.payloads.get(sha256);
  if (stored === undefined) throw new Error(`no payload ${sha256}`);
  return Buffer.from(stored.body).toString('utf8');
}

/** Every request of the journal put together again; it must be what its digest says. */
async function wholeRequests(events: readonly RunEvent[]): Promise<readonly string[]> {
  const whole: string[] = [];
  const said: string[] = [];
  for (const event of events) {
    if (event.kind === 'message.appended') said.push(await textOf(event.message.sha256));
    if (event.kind !== 'step.started' && event.kind !== 'step.reused') continue;
    if (event.step !== 'llm' || event.input === undefined) continue;
    const count = event.conversation ?? 0;
    expect(said.length).toBeGreaterThanOrEqual(count);
    const text = fullRequest(await textOf(event.input.sha256), said.slice(0, count));
    expect(digestOf(text, hash)).toBe(event.inputDigest);
    whole.push(text);
  }
  return whole;
}

/** Bytes of the payloads that the events refer to, each once. */
function bytesOf(events: readonly RunEvent[], known = new Set<string>()): number {
  let bytes = 0;
  for (const ref of events.flatMap(payloadRefsOf)) {
    if (known.has(ref.sha256)) continue;
    known.add(ref.sha256);
    bytes += ref.bytes;
  }
  return bytes;
}

const begin = async (agent: Agent) => {
  requests = [];
  replies = [];
  return stage.begin(agent);
};
const completes = (id: string) =>
  stage.lab.until(id, (status, _events, held) => status === 'completed' && !held);

describe('a conversation that every call sends again', () => {
  test('is stored once, message by message, and grows by the same amount each turn', async () => {
    await begin(conversation(TURNS));
    await completes('r');
    const events = await stage.lab.events('r');
    const started = eventsOf(events, 'step.started');
    expect(started.map(({ conversation }) => conversation)).toEqual(started.map((_, n) => 2 * n + 1));
    expect(requests).toHaveLength(TURNS);
    expect(await wholeRequests(events)).toEqual(requests);

    const messages = eventsOf(events, 'message.appended').map(({ message }) => message);
    const spoken = messages.reduce((sum, { bytes }) => sum + bytes, 0);
    // Beside the messages: one request without messages for all calls, and what came with each reply.
    expect(bytesOf(events) - spoken).toBeLessThan(100 * TURNS);
    const known = new Set<string>();
    const ends = eventsOf(events, 'step.completed').map(({ seq }) => seq as number);
    const grown = ends.map((at, n) =>
      bytesOf(
        events.filter(({ seq }) => seq > (ends[n - 1] ?? 0) && seq <= at),
        known,
      ),
    );
    expect(Math.max(...grown.slice(1)) - Math.min(...grown.slice(1))).toBeLessThan(8);
  });

  test('has each reply’s message as the payload that the conversation appends, and its rest beside it', async () => {
    await begin(conversation(3));
    await completes('r');
    const events = await stage.lab.events('r');
    const completed = eventsOf(events, 'step.completed');
    const said = eventsOf(events, 'message.appended').filter(({ role }) => role === 'assistant');
    expect(completed.map(({ message }) => message)).toEqual(said.map(({ message }) => message));
    for (const [n, { result, message }] of completed.entries()) {
      if (result === undefined || message === undefined) throw new Error('a reply is in two parts');
      const rest = await textOf(result.sha256);
      expect(JSON.parse(rest)).not.toHaveProperty('message');
      expect(joinReply({ message: await textOf(message.sha256), rest })).toBe(JSON.stringify(replies[n]));
    }
    const rows = await stage.lab.deps.store.steps('r' as never);
    expect(rows.map(({ conversation, message }) => ({ conversation, message }))).toEqual(
      said.map(({ message }, n) => ({ conversation: 2 * n + 1, message })),
    );
  });

  test('gives the code the same requests and replies after a crash at any point', async () => {
    await begin(conversation(4));
    await completes('r');
    const whole = { requests, replies, digests: digestsOf(await stage.lab.events('r')) };
    let answered = 0;
    for (let at = 2; ; at += 3) {
      stage.reset(5);
      requests = [];
      replies = [];
      let passed = 0;
      let killed = false;
      const agent = conversation(4);
      const first = await stage.lab.worker([agent], {
        onPoint: (_point, worker) => {
          if (++passed !== at) return;
          killed = true;
          worker.kill();
        },
        batchSize: 1,
      });
      stage.workers.push(first, await stage.lab.worker([agent]));
      void first.start('a', { runId: 'r' });
      await stage.lab.until('r', (status) => status === 'interrupted' || status === 'completed');
      if (!killed) break;
      replies = [];
      if ((await stage.lab.status('r')) === 'interrupted') {
        await stage.lab.order('r', 'resume');
        await completes('r');
        // Nothing runs again where the crash came after the visit was left.
        expect(replies.length > 0 ? replies : whole.replies).toEqual(whole.replies);
      }
      const events = await stage.lab.events('r');
      answered += eventsOf(events, 'step.reused').length;
      expect(new Set(await wholeRequests(events))).toEqual(new Set(whole.requests));
      expect(digestsOf(events)).toEqual(whole.digests);
    }
    expect(answered).toBeGreaterThan(10);
  });

  test('is replayed equal, and the replay’s journal stores no message a second time', async () => {
    await begin(conversation(6));
    await completes('r');
    const asked = requests.length;
    const copy = await stage.lab.order('r', 'replay', 'start');
    await completes(copy);
    expect(requests).toHaveLength(asked);
    expect(replies.slice(6)).toEqual(replies.slice(0, 6));
    const [before, after] = [await stage.lab.events('r'), await stage.lab.events(copy)];
    expect(await wholeRequests(after)).toEqual(requests);
    const known = new Set(before.flatMap(payloadRefsOf).map(({ sha256 }) => sha256 as string));
    expect(bytesOf(after, known)).toBe(0);
    expect(eventsOf(after, 'step.reused').map(({ message }) => message?.sha256)).toEqual(
      eventsOf(before, 'step.completed').map(({ message }) => message?.sha256),
    );
  });

  test('answers a fork’s calls from the record at equal requests, whatever their form', async () => {
    await begin(
      talker(async (ctx) => {
        await turn(ctx, 0);
        await turn(ctx, 1);
        await turn(ctx, ctx.vars.get('more') === undefined ? 2 : 3);
        ctx.checkpoint();
      }),
    );
    await completes('r');
    const whole = [...replies];
    const saved = eventsOf(await stage.lab.events('r'), 'checkpoint.saved').at(-1);
    const copy = await stage.lab.order('r', 'fork', `cp_${saved?.seq}`, {
      edits: [{ path: '/variables/more', value: 1 }],
    });
    await completes(copy);
    const events = await stage.lab.events(copy);
    expect(eventsOf(events, 'step.reused')).toMatchObject([{ conversation: 1 }, { conversation: 3 }]);
    expect(await wholeRequests(events)).toEqual([...requests.slice(0, 2), requests[3]]);
    expect(replies.slice(3, 5)).toEqual(whole.slice(0, 2));
  });

  test('is taken from the journal’s order where branches append while others ask, crash or not', async () => {
    const branching = talker((ctx) =>
      ctx.parallel('both', {
        left: async (c) => {
          for (let n = 0; n < 3; n++) await turn(c, n);
        },
        right: async (c) => {
          for (let n = 10; n < 13; n++) await turn(c, n);
        },
      }),
    );
    for (let seed = 1; seed <= 12; seed++) {
      stage.reset(seed);
      let passed = 0;
      const first = await stage.lab.worker([branching], {
        onPoint: (_point, worker) => {
          if (++passed === 1 + seed) worker.kill();
        },
        batchSize: 1 + (seed % 3),
      });
      stage.workers.push(first, await stage.lab.worker([branching]));
      void first.start('a', { runId: 'r' });
      await stage.lab.until('r', (status) => status === 'interrupted' || status === 'completed');
      if ((await stage.lab.status('r')) !== 'completed') await stage.lab.order('r', 'resume');
      await completes('r');
      const whole = await wholeRequests(await stage.lab.events('r'));
      expect(whole.length).toBeGreaterThanOrEqual(6);
    }
  });

  test('diverges where an earlier message differs, and says so', async () => {
    let first: Message = { role: 'system', content: 'be kind' };
    let down = true;
    const agent = talker(async (ctx) => {
      ctx.messages.append({ role: 'system', content: 'be kind' });
      await ctx.llm('model', { messages: [first, ...ctx.messages.list().slice(1)] });
      if (down) throw new Error('down');
    });
    await begin(agent);
    await stage.lab.until('r', (status, _events, held) => status === 'failed' && !held);
    expect(eventsOf(await stage.lab.events('r'), 'step.started')).toMatchObject([{ conversation: 1 }]);
    first = { role: 'system', content: 'be rude' };
    down = false;
    const copy = await stage.lab.order('r', 'replay', 'start');
    await stage.lab.until(copy, (status, _events, held) => status === 'failed' && !held);
    const [found] = eventsOf(await stage.lab.events(copy), 'divergence.found');
    expect(found).toMatchObject({ stepKey: 'talk#1/model#1', what: 'input' });
    expect(found?.sentence).toContain('which began with the conversation’s first message');
    expect(found?.asked && (await stage.lab.payload(found.asked.sha256))).toEqual({ messages: [first] });
  });

  test('shows a request that differs later in the form of its record', async () => {
    let question = 'how much?';
    const agent = talker(async (ctx) => {
      ctx.messages.append({ role: 'system', content: 'be kind' });
      await ctx.llm('model', { messages: [...ctx.messages.list(), { role: 'user', content: question }] });
    });
    await begin(agent);
    await completes('r');
    question = 'how many?';
    const copy = await stage.lab.order('r', 'replay', 'start');
    await stage.lab.until(copy, (status, _events, held) => status === 'failed' && !held);
    const [found] = eventsOf(await stage.lab.events(copy), 'divergence.found');
    const shown = await Promise.all(
      [found?.recorded, found?.asked].map((ref) => ref && stage.lab.payload(ref.sha256)),
    );
    expect(shown).toEqual(
      ['how much?', 'how many?'].map((content) => ({ messages: [{ role: 'user', content }] })),
    );
  });
});

/** Digest of every step's request, by its key. */
const digestsOf = (events: readonly RunEvent[]) =>
  Object.fromEntries(
    eventsOf(events, 'step.started').map(({ stepKey, inputDigest }) => [stepKey, inputDigest]),
  );
