import type { RunEvent } from '@/lib/core/events/run-event';
import type { Agent, SecretSource } from '@/lib/sdk/api';
import { GivenUp } from '@/lib/sdk/http-client';
import type { JournalPort } from '@/lib/sdk/journal-port';
import { machineOf } from '@/lib/sdk/machine-of';
import { replaySession } from '@/lib/sdk/replay-entry';
import { AgentWorker } from '@/lib/sdk/worker';
import { type SimConsole, simConsole } from './sdk-console';
import { SimClock } from './sdk-sim';

/** Workers and a console on one virtual clock. */
export interface Lab extends SimConsole {
  readonly warnings: string[];
  readonly points: string[];
  /** A worker with these agents; `onPoint` may kill it. */
  worker(agents: readonly Agent[], options?: LabWorkerOptions): Promise<AgentWorker>;
  /** Lets virtual time pass. */
  pass(ms: number): Promise<void>;
  until(
    runId: string,
    done: (status: string, events: readonly RunEvent[], held: boolean) => boolean,
  ): Promise<void>;
}

export interface LabWorkerOptions {
  readonly onPoint?: (point: string, worker: AgentWorker) => void;
  readonly batchSize?: number;
  readonly workerId?: string;
  /** Runs held at once; 64 by default. */
  readonly maxRuns?: number;
  /** Between attempts; 20 and 100 ms by default. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  /** Where its tools' secrets are; nowhere by default. */
  readonly secrets?: SecretSource;
  /** Changes what this worker sees of the console. */
  readonly port?: (port: JournalPort) => JournalPort;
  /** Asked at every request: while true, nothing that this worker sends arrives for 2.5 s. */
  readonly isCutOff?: () => boolean;
  /** Asked when a claim was granted: true, and its answer never arrives. */
  readonly losesClaim?: () => boolean;
  /** Told before this worker asks about a run that it claimed. */
  readonly onRequest?: (request: 'aboutRun') => void;
  /** Asked at every request: while true, nothing that this worker sends ever arrives. */
  readonly isUnreachable?: () => boolean;
}

export function sdkLab(seed = 1): Lab {
  const clock = new SimClock(seed);
  const console = simConsole(clock);
  const warnings: string[] = [];
  const points: string[] = [];
  let workers = 0;
  const lab: Lab = {
    ...console,
    warnings,
    points,
    worker: async (agents, options = {}) => {
      const { port } = console;
      const through = <Value>(send: () => Promise<Value>): Promise<Value> => {
        if (options.isUnreachable?.() === true) return new Promise(() => undefined);
        return options.isCutOff?.() === true ? clock.delay(2_500).then(send) : send();
      };
      const worker: AgentWorker = new AgentWorker({
        port: (options.port ?? ((plain) => plain))({
          ...port,
          claim: async (ask, signal) => {
            while (options.isCutOff?.() === true && !signal.aborted) await clock.delay(500);
            const claim = await port.claim(ask, signal);
            if (claim !== undefined && options.losesClaim?.() === true)
              throw new GivenUp('the answer is lost');
            return claim;
          },
          append: (runId, batch) => through(() => port.append(runId, batch)),
          heartbeat: (held, seenSeq, signal) => through(() => port.heartbeat(held, seenSeq, signal)),
          release: (held, outcome) => through(() => port.release(held, outcome)),
          aboutRun: (runId) => {
            options.onRequest?.('aboutRun');
            return through(() => port.aboutRun(runId));
          },
          evidence: (runId, evidence) => through(() => port.evidence(runId, evidence)),
        }),
        clock,
        workerId: options.workerId ?? `w${++workers}`,
        agents: agents.map((agent) => ({ agent, url: 'none:', ...machineOf(agent) })),
        maxRuns: options.maxRuns ?? 64,
        // In this process: its silence is tested with a real child elsewhere.
        replay: (replayPort, task, warn) => {
          const agent = agents.find(({ name }) => name === task.agent) as Agent;
          const loading = replaySession(replayPort, clock, agent, task, { warn, notices: () => [] });
          return {
            ended: loading.then(async (session) => {
              await session.start();
              return session.ended;
            }),
            isBusy: () => false,
            handOver: () => void loading.then((session) => session.handOver()),
            abandon: () => undefined,
          };
        },
        session: {
          batchSize: options.batchSize ?? 500,
          backoff: options.backoff ?? { baseMs: 20, capMs: 100 },
          graceMs: 200,
          warn: (warning) => warnings.push(warning),
          secrets: options.secrets ?? (() => undefined),
          onPoint: (point) => {
            points.push(point);
            options.onPoint?.(point, worker);
          },
        },
      });
      await worker.open();
      return worker;
    },
    pass: async (ms) => {
      let over = false;
      clock.after(ms, () => {
        over = true;
      });
      if (!(await clock.run(() => over, 200_000))) throw new Error(`${ms} ms never passed`);
    },
    until: async (runId, done) => {
      let seen: readonly RunEvent[] = [];
      let status = '';
      let met = false;
      const look = async () => {
        status = await console.status(runId).catch(() => 'none');
        seen = await console.events(runId);
        const held = (await console.deps.store.run(runId as never))?.lease !== undefined;
        met = done(status, seen, held);
        if (!met) clock.after(25, () => void look());
      };
      clock.after(1, () => void look());
      if (!(await clock.run(() => met))) {
        throw new Error(
          `never happened; status ${status}, ${warnings.join('; ')}\n${seen.map((e) => `${e.seq} ${e.kind} ${JSON.stringify(e).slice(0, 260)}`).join('\n')}`,
        );
      }
    },
  };
  return lab;
}
