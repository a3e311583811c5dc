import { describe, expect, test } from 'vitest';
import type { AppendReply, Batch, JournalPort } from './journal-port';
import { inherited, replayInChild } from './replay-child';
import type { ReplayTask } from './replay-entry';

describe('options of Node that a replay’s process inherits', () => {
  const LOADING = ['--import', 'tsx', '-r', './dotenv.cjs', '--conditions=dev', '--max-old-space-size=512'];

  test('those under which modules load', () => {
    expect(inherited(LOADING)).toEqual(LOADING);
  });

  test.each([
    { about: 'a debugger', own: ['--inspect'] },
    { about: 'a debugger that waits', own: ['--inspect-brk=127.0.0.1:9229', '--inspect-publish-uid=http'] },
    { about: 'a debugger’s port', own: ['--inspect-port', '9230'] },
    { about: 'a program', own: ['--input-type=module', '-e', 'import "./worker.mjs"'] },
    { about: 'another spelling of it', own: ['--input-type', 'module', '--eval', '--print', '-p', '1'] },
    { about: 'watching', own: ['--watch', '--watch-path', './lib', '--watch-preserve-output'] },
    { about: 'a run as a test', own: ['--test', '--test-only'] },
  ])('none of $about', ({ own }) => {
    expect(inherited([...LOADING, ...own])).toEqual(LOADING);
    expect(inherited([...own, ...LOADING])).toEqual(LOADING);
  });
});

test('a module that loads for longer than the lease does not lose it', async () => {
  let beats = 0;
  let beatOften: () => void = () => undefined;
  const often = new Promise<void>((resolve) => {
    beatOften = resolve;
  });
  const heartbeat = async () => {
    if (++beats === 3) beatOften();
    return { leaseMs: 60, others: [] };
  };
  const task = {
    kind: 'task',
    url: 'data:text/javascript,setInterval(() => {}, 1e9); await new Promise(() => {});',
    agent: 'a',
    claim: { runId: 'r', epoch: 1, headSeq: 1, leaseMs: 60 },
  };
  const replay = replayInChild(
    { heartbeat } as unknown as JournalPort,
    task as unknown as ReplayTask,
    () => undefined,
  );
  await often;
  replay.abandon();
  expect(await replay.ended).toBe('stopped');
});

describe('a replay’s process', () => {
  const MARK = `Symbol.for('rerail.agent')`;
  /** A module whose agent, when it is to replay, runs `body`; `call` asks the worker for a method of the journal port. */
  const moduleOf = (body: string) =>
    `data:text/javascript,${encodeURIComponent(`
    const answered = new Map();
    const call = (id, method, ...args) => new Promise((resolve) => {
      answered.set(id, resolve);
      process.send({ kind: 'call', id, method, args });
    });
    const append = (batch) => call(batch, 'append', 'r', { epoch: 1, batch, seenSeq: 1, events: [], payloads: [] });
    export const agent = { name: 'a', [${MARK}]: async () => {
      process.on('message', (message) => answered.get(message.id)?.(message));
      ${body}
    } };
  `)}`;

  /** Runs it to its end. `append` answers what is appended; by default it is taken. */
  async function run(
    url: string,
    {
      append,
      onCall,
    }: { append?: (batch: Batch) => Promise<AppendReply | undefined>; onCall?: (name: string) => void } = {},
  ) {
    const batches: Batch[] = [];
    const released: string[] = [];
    const warnings: string[] = [];
    const taken: AppendReply = { ok: true, firstSeq: 1 as never, headSeq: 2 as never, others: [] };
    const port = {
      heartbeat: () => Promise.resolve({ leaseMs: 60_000, others: [] }),
      append: async (_run: unknown, batch: Batch) => {
        const reply = (await append?.(batch)) ?? taken;
        if (reply.ok) batches.push(batch);
        return reply;
      },
      release: (_held: unknown, outcome: string) => Promise.resolve(void released.push(outcome)),
      payload: (name: string) => Promise.resolve(onCall?.(name)),
    };
    const task = {
      kind: 'task',
      url,
      agent: 'a',
      claim: {
        runId: 'r',
        epoch: 1,
        headSeq: 1,
        leaseMs: 60_000,
        reason: 'replay',
        command: { commandId: 'c' },
        plan: {},
      },
    };
    const replay = replayInChild(port as unknown as JournalPort, task as unknown as ReplayTask, (warning) =>
      warnings.push(warning),
    );
    return { replay, batches, released, warnings };
  }

  /** The events that end the run and its order with one reason. */
  const failedFor = (reason: string) => [
    { kind: 'run.failed', cause: 'error', error: { message: expect.stringContaining(reason) as unknown } },
    {
      kind: 'command.ended',
      commandId: 'c',
      outcome: 'refused',
      detail: expect.stringContaining(reason) as unknown,
    },
  ];

  test.each([
    {
      how: 'a rejection that nobody handles',
      body: `void Promise.reject(new Error('the till is shut'));`,
      reason: 'the till is shut',
    },
    {
      how: 'an error outside every call',
      body: `setTimeout(() => { throw new Error('the till is shut'); });`,
      reason: 'the till is shut',
    },
    { how: 'an end of its own', body: 'process.exit(7);', reason: 'its process ended by itself (7)' },
    {
      how: 'a signal',
      body: `await call(9, 'payload', process.pid);`,
      reason: 'its process ended by itself (SIGKILL)',
    },
    {
      how: 'an error of the replay’s own',
      body: `throw new Error('the till is shut');`,
      reason: 'the till is shut',
    },
  ])(
    'that breaks off by $how after it appended fails the run behind what it wrote, and says why',
    async ({ body, reason }) => {
      const { replay, batches, released, warnings } = await run(
        moduleOf(`await append(1); await append(2); ${body} await new Promise(() => {});`),
        { onCall: (pid) => process.kill(Number(pid), 'SIGKILL') },
      );
      expect(await replay.ended).toBe('stopped');
      expect(batches.map(({ batch }) => batch)).toEqual([1, 2, 3]);
      expect(batches[2]?.events).toMatchObject(failedFor(reason));
      expect(released).toEqual(['done']);
      expect(warnings.join()).toContain(reason);
    },
  );

  test('that breaks off while a batch is on its way is failed behind that batch', async () => {
    let take: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const whenGone = (pid: number) => {
      try {
        process.kill(pid, 0);
        setImmediate(whenGone, pid);
      } catch {
        take();
      }
    };
    const { replay, batches } = await run(
      moduleOf(`await append(1); void append(2); await call(9, 'payload', process.pid); process.exit(7);`),
      {
        onCall: (pid) => whenGone(Number(pid)),
        append: async ({ batch }) => {
          if (batch === 2) await taken;
          return undefined;
        },
      },
    );
    await replay.ended;
    expect(batches.map(({ batch }) => batch)).toEqual([1, 2, 3]);
    expect(batches[2]?.events).toMatchObject(failedFor('its process ended by itself (7)'));
  });

  test('whose end the journal refuses is told as a warning, and the run is given back', async () => {
    const { replay, released, warnings } = await run(moduleOf('process.exit(7);'), {
      append: () => Promise.resolve({ ok: false, problem: { kind: 'refused', detail: 'no such batch' } }),
    });
    await replay.ended;
    expect(released).toEqual(['done']);
    expect(warnings.join()).toContain('no such batch');
  });

  test('that says by itself how it ended is not failed', async () => {
    const { replay, batches, warnings } = await run(
      moduleOf(`await append(1); process.send({ kind: 'ended', end: 'stopped' });`),
    );
    expect(await replay.ended).toBe('stopped');
    expect(batches.length).toBe(1);
    expect(warnings).toEqual([]);
  });

  test('is told of a hand-over that came while it loaded, once it can hear of it', async () => {
    let isLoading: () => void = () => undefined;
    const loading = new Promise<void>((resolve) => {
      isLoading = resolve;
    });
    const { replay } = await run(
      moduleOf(`
        await call(1, 'payload', 'loading');
        const heard = new Promise((resolve) => process.on('message', (m) => { if (m.kind === 'hand-over') resolve(); }));
        process.send({ kind: 'ready' });
        await heard;
        process.send({ kind: 'ended', end: 'hand-over' });
      `),
      { onCall: () => isLoading() },
    );
    await loading;
    replay.handOver();
    expect(await replay.ended).toBe('hand-over');
  });
});
