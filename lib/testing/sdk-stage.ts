import { afterEach, beforeEach } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Agent, AgentOptions, Context, Tool, ToolOptions } from '@/lib/sdk/api';
import { defineAgent } from '@/lib/sdk/define-agent';
import { tool } from '@/lib/sdk/tool';
import type { AgentWorker } from '@/lib/sdk/worker';
import { type Lab, sdkLab } from './sdk-lab';

/** What the outside saw of one call. */
export interface Seen {
  readonly name: string;
  readonly key: string | undefined;
  readonly args: unknown;
}

/** One test's lab, its workers, and an outside that writes down what reaches it. */
export interface Stage {
  readonly lab: Lab;
  readonly workers: AgentWorker[];
  /** In order of arrival. */
  readonly outside: Seen[];
  reset(seed: number): void;
  /** A tool that answers `{ id: name_n }` after 3 ms, or what `answer` gives for its n-th call. */
  readonly seen: (
    name: string,
    options: Omit<ToolOptions<unknown, unknown>, 'run'> & {
      readonly answer?: (n: number) => Promise<unknown>;
    },
  ) => Tool;
  /** Starts run `r` of agent `a` on a worker of its own. */
  readonly begin: (agent: Agent, input?: unknown) => Promise<AgentWorker>;
  /** Answers the run's open question. */
  readonly answer: (value: unknown, runId?: string) => Promise<unknown>;
  readonly names: () => string[];
}

/** A stage that is fresh in every test of the file. */
export function stages(seed = 5): Stage {
  let lab = sdkLab(seed);
  let workers: AgentWorker[] = [];
  let outside: Seen[] = [];
  const reset = (next: number) => {
    for (const worker of workers) worker.kill();
    lab = sdkLab(next);
    workers = [];
    outside = [];
  };
  beforeEach(() => reset(seed));
  afterEach(() => {
    for (const worker of workers) worker.kill();
  });
  return {
    get lab() {
      return lab;
    },
    get workers() {
      return workers;
    },
    get outside() {
      return outside;
    },
    reset,
    seen: (name, { answer, ...rest }) =>
      tool({
        ...rest,
        run: async (args: unknown, call) => {
          outside.push({ name, key: call.idempotencyKey, args });
          const n = outside.filter((entry) => entry.name === name).length;
          await lab.clock.delay(3);
          return answer === undefined ? { id: `${name}_${n}` } : answer(n);
        },
      }),
    begin: async (agent, input) => {
      const worker = await lab.worker([agent]);
      workers.push(worker);
      void worker.start('a', { runId: 'r', ...(input === undefined ? {} : { input }) });
      return worker;
    },
    answer: async (value, runId = 'r') => {
      const run = await lab.deps.store.run(runId as never);
      const question = Object.values(run?.state.questions ?? {}).find(({ status }) => status === 'open');
      return lab.command(runId, {
        mode: 'answer',
        questionId: question?.questionId,
        questionDigest: question?.questionDigest,
        value,
      } as never);
    },
    names: () => outside.map(({ name }) => name),
  };
}

/** A state that ends the run. */
export const end = { to: [], final: true, run: async () => undefined } as const;

/** Agent `a` with one state that may call everything, and the end; `more`: what else it declares. */
export const oneState = (
  tools: Readonly<Record<string, Tool>>,
  run: (ctx: Context) => Promise<unknown>,
  more: Omit<AgentOptions, 'name' | 'initial' | 'states' | 'tools'> = {},
): Agent =>
  defineAgent({
    ...more,
    name: 'a',
    initial: 'work',
    states: {
      work: {
        to: ['close'],
        tools: Object.keys(tools),
        run: async (ctx) => {
          await run(ctx);
          return 'close';
        },
      },
      close: end,
    },
    tools,
  });

/** The events of one kind. */
export const eventsOf = <Kind extends RunEvent['kind']>(events: readonly RunEvent[], kind: Kind) =>
  events.filter((event): event is Extract<RunEvent, { readonly kind: Kind }> => event.kind === kind);
