import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunId } from '@/lib/core/events/ids';
import { NotSent, Rejected, Unavailable } from '@/lib/sdk/errors';
import { hash } from '@/lib/sdk/hash';
import { type Lab, sdkLab } from '@/lib/testing/sdk-lab';
import {
  type AgentSpec,
  agentSpec,
  type Node,
  randomAgent,
  type World,
} from '@/lib/testing/sdk-random-agents';
import type { SimClock } from '@/lib/testing/sdk-sim';
import { eventsOf } from '@/lib/testing/sdk-stage';

const agents = Number(process.env['SDK_AGENTS'] ?? 8);
const seed = Number(process.env['SDK_SEED'] ?? 1);
const SCHEDULES = 3;

const digit = (text: string) => Number.parseInt(hash(text).slice(0, 8), 16);

/** A world that says the same to the same call, whenever it is asked; only when an answer comes is drawn. */
class SteadyWorld implements World {
  readonly sent = new Map<string, { readonly result: string }>();
  private readonly tries = new Map<string, number>();
  constructor(private readonly clock: SimClock) {}

  truth(key: string) {
    return this.sent.get(key);
  }

  async send(_effect: string, key: string, args: string): Promise<string> {
    await this.clock.delay(this.clock.int(1, 250));
    const luck = digit(key) % 10;
    if (luck === 0) throw new Rejected(`no ${args}`);
    if (luck === 1 && this.first(key)) throw new NotSent('no connection');
    this.sent.set(key, { result: `r${digit(`${key} ${args}`)}` });
    // Done, and the answer is lost: in doubt until the probe is asked.
    if (luck === 2) return new Promise(() => undefined);
    return this.sent.get(key)?.result ?? '';
  }

  async read(what: string): Promise<string> {
    await this.clock.delay(this.clock.int(1, 250));
    const luck = digit(what) % 10;
    if (luck === 0 || (luck === 1 && this.first(what))) throw new Unavailable('busy');
    return `v${digit(what)}`;
  }

  /** Whether this is the first try of it. Equal reads have one count, so a try may be the first of neither. */
  private first(call: string): boolean {
    const before = this.tries.get(call) ?? 0;
    this.tries.set(call, before + 1);
    return before === 0;
  }
}

/**
 * What has one meaning whichever answer comes first: no race by the code's own wish, no clock or randomness, nothing
 * that nobody awaits, and no variable that one branch writes and another one reads.
 */
function steady(nodes: readonly Node[], inBranch = false): readonly Node[] {
  return nodes.map((node) => {
    const inner = inBranch || node.t === 'par';
    switch (node.t) {
      case 'race':
      case 'loose':
      case 'lines':
      case 'draw':
        return { t: 'all', n: node.n ?? 'pay' };
      case 'set':
      case 'get':
        return inBranch ? { t: 'call', n: 'mail' } : node;
      default:
        return {
          ...node,
          ...(node.body && { body: steady(node.body, inner) }),
          ...(node.alt && { alt: steady(node.alt, inner) }),
        };
    }
  });
}

const branching: fc.Arbitrary<AgentSpec> = fc
  .record({
    spec: agentSpec,
    a: fc.constantFrom<Node>({ t: 'all', n: 'pay' }, { t: 'call', n: 'put' }, { t: 'stagger', n: 'mail' }),
  })
  .map(({ spec, a }) => ({
    ...spec,
    states: spec.states.map((nodes, i) => [
      ...(i === 0 ? [{ t: 'par', body: [a, ...steady(nodes, true)], alt: [{ t: 'all', n: 'get' }, a] }] : []),
      ...steady(nodes),
    ]),
  }));

/** The whole run, its questions answered by what they ask and its doubts by probe. */
async function run(spec: AgentSpec, schedule: number) {
  const lab = sdkLab(schedule);
  const worker = await lab.worker([randomAgent(spec, new SteadyWorld(lab.clock), true)]);
  void worker.start('random', { runId: 'r', input: {} });
  let end = '';
  const look = async () => {
    const status = await lab.status('r').catch(() => 'none');
    if (status === 'completed' || status === 'failed') end = status;
    else {
      await answerAll(lab);
      lab.clock.after(50, () => void look());
    }
  };
  lab.clock.after(1, () => void look());
  await lab.clock.run(() => end !== '', 60_000);
  worker.kill();
  return { end, ...(await toldOf(lab)) };
}

async function answerAll(lab: Lab): Promise<void> {
  const record = await lab.deps.store.run('r' as RunId);
  for (const { questionId, questionDigest, stepKey, status } of Object.values(record?.state.questions ?? {}))
    if (status === 'open' && lab.clock.random() < 0.5)
      await lab.command('r', { mode: 'answer', questionId, questionDigest, value: `a ${stepKey}` } as never);
}

async function toldOf(lab: Lab) {
  const events = await lab.events('r');
  const steps = (await lab.deps.store.steps('r' as RunId)).map(
    ({ stepKey, status, inputDigest, result, message, error }) =>
      [
        stepKey,
        { status, inputDigest, result: result?.sha256, message: message?.sha256, error: error?.message },
      ] as const,
  );
  const effects = (await lab.deps.store.effects('r' as RunId)).map(
    ({ stepKey, generation, idempotencyKey, status, result }) =>
      [`${stepKey} ${generation}`, { idempotencyKey, status, result: result?.sha256 }] as const,
  );
  return {
    told: {
      steps: Object.fromEntries(steps),
      effects: Object.fromEntries(effects),
      visits: eventsOf(events, 'state.entered').map(({ key }) => key),
      result: eventsOf(events, 'run.completed')[0]?.result?.sha256,
    },
    order: eventsOf(events, 'step.completed').map(({ stepKey }) => stepKey),
    // A name that was minted between two answers is warned of whether or not its number comes to depend on them.
    warnings: lab.warnings.filter((text) => !text.includes('depends on which answer came first')),
  };
}

test(
  'random agents have the same step keys, idempotency keys and results in whatever order the answers come in',
  async () => {
    let orders = 0;
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(branching, fc.integer({ min: 1, max: 1_000_000 }), async (spec, first) => {
        const whole = await run(spec, first);
        expect({ end: whole.end, warnings: whole.warnings }).toEqual({ end: 'completed', warnings: [] });
        for (const { status } of Object.values(whole.told.effects)) seen.add(status);
        for (let n = 1; n < SCHEDULES; n++) {
          const other = await run(spec, first + n);
          expect(other.told).toEqual(whole.told);
          expect(other.warnings).toEqual([]);
          if (other.order.join() !== whole.order.join()) orders++;
        }
      }),
      { numRuns: agents, seed, endOnFailure: true },
    );
    expect([...seen].sort()).toEqual(['confirmed', 'failed']);
    expect(orders).toBeGreaterThan(agents / 2);
  },
  60_000 + agents * 2_000,
);
