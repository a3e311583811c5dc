import fc from 'fast-check';
import type { Agent, Context, Tool } from '@/lib/sdk/api';
import { defineAgent } from '@/lib/sdk/define-agent';
import { NotSent, Rejected, Unavailable } from '@/lib/sdk/errors';
import { hash } from '@/lib/sdk/hash';
import { tool } from '@/lib/sdk/tool';
import type { SimClock } from './sdk-sim';

/* Random agents: trees of calls, drawn by fast-check, and the world that they act on. */

export interface Node {
  readonly t: string;
  readonly n?: string;
  readonly body?: readonly Node[];
  readonly alt?: readonly Node[];
  readonly k?: number;
}
export interface AgentSpec {
  readonly states: readonly (readonly Node[])[];
  readonly back: boolean;
}

const short = (text: string) => hash(text).slice(0, 8);
const odd = (value: string) => hash(value).charCodeAt(0) % 2 === 1;

/** What a random agent acts on. */
export interface World {
  /** What was done under a key. */
  truth(key: string): { readonly result: string } | undefined;
  send(effect: 'external' | 'idempotent', key: string, args: string): Promise<string>;
  /** `what`: the tool or model that is asked, and what for. */
  read(what: string): Promise<string>;
}

/** The outside: `external` executes at every arrival, so a second send shows; `idempotent` once for each key. */
export class Downstream implements World {
  readonly executed: {
    readonly key: string;
    readonly args: string;
    readonly result: string;
    readonly effect: string;
  }[] = [];
  readonly violations: string[] = [];
  reads = 0;
  static readonly timeoutMs = 300;
  static readonly settlesWithinMs = 200;
  private readonly clock: SimClock;

  constructor(clock: SimClock) {
    this.clock = clock;
  }

  truth(key: string) {
    return this.executed.find((row) => row.key === key);
  }

  async send(effect: 'external' | 'idempotent', key: string, args: string): Promise<string> {
    const { clock } = this;
    const p = clock.random();
    if (p < 0.05) {
      await clock.delay(5);
      throw new NotSent('no connection');
    }
    if (p < 0.1) {
      await clock.delay(20);
      throw new Rejected('refused');
    }
    if (p < 0.18) return new Promise(() => undefined); // lost on the way
    await clock.delay(clock.int(1, Downstream.settlesWithinMs));
    const before = effect === 'idempotent' ? this.truth(key) : undefined;
    if (before !== undefined && before.args !== args) this.violations.push(`key ${key} with other arguments`);
    const row = before ?? { key, args, effect, result: `r${short(key + clock.random())}` };
    if (before === undefined) this.executed.push(row);
    if (p < 0.3) return new Promise(() => undefined); // done, and the answer is lost
    if (p < 0.34) throw new Unavailable('gateway');
    await clock.delay(clock.int(1, p < 0.45 ? 600 : 60)); // 600: later than the time-out
    return row.result;
  }

  /** Every answer differs: asking a recorded read again would show. */
  async read(): Promise<string> {
    this.reads++;
    await this.clock.delay(this.clock.int(1, 60));
    if (this.clock.random() < 0.1) throw new Unavailable('busy');
    return `v${short(String(this.clock.random()))}`;
  }
}

const call = async (c: Context, n: string, arg: string): Promise<string> => {
  try {
    if (n === 'llm') return String((await c.llm('llm', { arg })).message.content);
    if (n === 'pure') return await c.compute('pure', arg, (value) => short(`p${value}`));
    if (n === 'retrieve') return await c.retrieve('get', arg);
    return await c.tool(n, arg);
  } catch (error) {
    // What stops a run passes through; a step's failure is a result like any other.
    if (!(error instanceof Error) || error.name !== 'StepFailed') throw error;
    return `err:${error.message}`;
  }
};

async function exec(nodes: readonly Node[], c: Context, at: { v: string }): Promise<void> {
  for (const node of nodes) {
    const n = node.n ?? 'get';
    const body = node.body ?? [];
    const alt = node.alt ?? [];
    switch (node.t) {
      case 'call':
        at.v = short(at.v + (await call(c, n, at.v)));
        break;
      case 'set':
        c.vars.set(n, { v: at.v });
        break;
      case 'get':
        at.v = short(at.v + JSON.stringify(c.vars.get(n) ?? ''));
        break;
      case 'msg':
        c.messages.append({ role: 'user', content: at.v });
        break;
      case 'draw':
        at.v = short(at.v + c.now() + c.random() + c.id());
        break;
      case 'ask':
        at.v = short(at.v + String(await c.ask('ask', { prompt: at.v })));
        break;
      case 'cond':
        await exec((await c.condition('cond', at.v, odd)) ? body : alt, c, at);
        break;
      case 'loop':
        for (let i = 0; i < (node.k ?? 2); i++) await exec(body, c, at);
        break;
      case 'par': {
        const r = await c.parallel('par', { a: branch(body, `${at.v}a`), b: branch(alt, `${at.v}b`) });
        at.v = short(r.a + r.b);
        break;
      }
      case 'loose':
        // Nobody awaits it: its scope ends with it or without.
        void c.parallel('par', { a: branch(body, `${at.v}a`), b: branch(alt, `${at.v}b`) });
        break;
      case 'lines': {
        // Which line comes first to its section is a race: no effects below it.
        const line = async (v: string) => {
          const x = await call(c, 'look', v);
          return c.parallel('raced', { a: (d) => call(d, 'get', x), b: (d) => call(d, 'pure', x) });
        };
        at.v = short(JSON.stringify(await Promise.all([line(`${at.v}1`), line(`${at.v}2`)])));
        break;
      }
      case 'all':
        at.v = short(
          (await Promise.all([call(c, n, at.v), call(c, 'look', at.v), call(c, n, `${at.v}2`)])).join(),
        );
        break;
      case 'race':
        at.v = short(at.v + (await Promise.race([call(c, n, at.v), call(c, 'limit', at.v)])));
        break;
      case 'stagger': {
        const a = call(c, n, at.v);
        const x = await call(c, 'pure', at.v);
        const b = call(c, 'look', x);
        at.v = short((await Promise.all([a, b])).join());
        break;
      }
      default:
        throw new Error(`no such node ${node.t}`);
    }
  }
}
const branch = (body: readonly Node[], v: string) => async (c: Context) => {
  const at = { v };
  await exec(body, c, at);
  return at.v;
};

export function randomAgent(spec: AgentSpec, down: World, autoVerify: boolean): Agent {
  const effect = (kind: 'external' | 'idempotent'): Tool =>
    tool({
      effect: kind,
      keyed: true,
      timeoutMs: Downstream.timeoutMs,
      settlesWithinMs: Downstream.settlesWithinMs,
      retries: kind === 'external' ? 1 : 4,
      run: (args: string, { idempotencyKey }) => down.send(kind, idempotencyKey ?? '', args),
      verify: async (_args, { idempotencyKey }) => {
        const row = down.truth(idempotencyKey ?? '');
        return row === undefined
          ? { outcome: 'did-not-happen' as const }
          : { outcome: 'happened' as const, result: row.result };
      },
    });
  const reads = (name: string): Tool =>
    tool({ effect: 'read', timeoutMs: 500, retries: 2, run: (args: string) => down.read(`${name} ${args}`) });
  const tools = {
    pay: effect('external'),
    mail: effect('external'),
    put: effect('idempotent'),
    get: reads('get'),
    look: reads('look'),
    limit: reads('limit'),
  };
  const names = spec.states.map((_, i) => `s${i}`);
  const states = Object.fromEntries(
    spec.states.map((nodes, i) => [
      `s${i}`,
      {
        to: [...names, 'end'],
        tools: Object.keys(tools),
        run: async (c: Context) => {
          const at = { v: short(`s${i}${String(c.vars.get('v'))}`) };
          await exec(nodes, c, at);
          c.vars.set('v', at.v);
          const visits = Number(c.vars.get('n') ?? 0) + 1;
          c.vars.set('n', visits);
          if (spec.back && i > 0 && visits < 5 && odd(at.v)) return `s${i - 1}`;
          return i + 1 < spec.states.length ? `s${i + 1}` : 'end';
        },
      },
    ]),
  );
  return defineAgent({
    name: 'random',
    initial: 's0',
    states: { ...states, end: { to: [], final: true, run: async (c) => c.vars.get('v') } },
    tools,
    llms: {
      llm: {
        model: 'm',
        retries: 2,
        client: {
          complete: async (request) => ({
            message: { role: 'assistant', content: await down.read(`llm ${JSON.stringify(request)}`) },
          }),
        },
      },
    },
    autoVerify,
  });
}

const name = fc.constantFrom('pay', 'mail', 'put', 'get', 'llm', 'pure', 'retrieve');
const leaf: fc.Arbitrary<Node> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ t: fc.constant('call'), n: name }) },
  { weight: 4, arbitrary: fc.record({ t: fc.constantFrom('set', 'get'), n: fc.constantFrom('p', 'q') }) },
  { weight: 3, arbitrary: fc.record({ t: fc.constantFrom('msg', 'draw', 'ask', 'lines') }) },
  { weight: 3, arbitrary: fc.record({ t: fc.constantFrom('all', 'race', 'stagger'), n: name }) },
);
const { node } = fc.letrec<{ node: Node }>((tie) => {
  const body = fc.array(tie('node'), { minLength: 1, maxLength: 3 });
  return {
    node: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      leaf,
      leaf,
      leaf,
      fc.record({ t: fc.constantFrom('par', 'cond', 'loose'), body, alt: body }),
      fc.record({ t: fc.constant('loop'), body, k: fc.constantFrom(2, 3) }),
    ),
  };
});
export const agentSpec: fc.Arbitrary<AgentSpec> = fc.record({
  states: fc.array(fc.array(node, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  back: fc.boolean(),
});
