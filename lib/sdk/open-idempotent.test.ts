import { describe, expect, test } from 'vitest';
import { oneState, stages } from '@/lib/testing/sdk-stage';

/*
 * An idempotent call that is open may be sent again under its key, by its own run and with its own arguments. Where that
 * is not to be, it is in doubt as any other: it can be asked about and decided, and the run goes on.
 */

const stage = stages();
const KEY = 'work#1/put#1';

const put = () =>
  stage.seen('put', {
    effect: 'idempotent',
    keyed: true,
    timeoutMs: 300,
    settlesWithinMs: 200,
    retries: 0,
    verify: async () => ({ outcome: 'did-not-happen' as const }),
    answer: (n) => (n === 1 ? new Promise<never>(() => undefined) : Promise.resolve({ n })),
  });
const row = async () => (await stage.lab.deps.store.effects('r' as never))[0];
const settle = {
  verify: () => stage.lab.command('r', { mode: 'verify', stepKey: KEY } as never),
  decide: async () =>
    stage.lab.command('r', {
      mode: 'decide',
      decisions: { [KEY]: { intentSeq: (await row())?.intentSeq, outcome: 'did-not-happen' } },
    } as never),
};
const ways = ['verify', 'decide'] as const;

describe.each(ways)('settled by %s', (way) => {
  test.each([false, true])(
    'it goes on with other arguments after a rewind (autoVerify: %s)',
    async (autoVerify) => {
      const look = stage.seen('look', { effect: 'read' });
      const agent = oneState(
        { look, put: put() },
        async (ctx) => {
          await ctx.tool('put', await ctx.tool('look', 1));
        },
        { autoVerify },
      );
      const { lab } = stage;
      const first = await stage.begin(agent);
      await lab.until('r', () => stage.names().includes('put'));
      first.kill();
      await lab.until('r', (status) => status === 'interrupted');
      stage.workers.push(await lab.worker([agent]));
      await lab.order('r', 'rewind', 'start');
      await lab.until('r', (status, _events, held) => status === 'waiting' && !held);
      expect(await row()).toMatchObject({ status: 'in-doubt' });
      await lab.pass(2_000);
      await settle[way]();
      await lab.until('r', (_status, events) =>
        events.some(({ kind }) => kind === 'effect.verified' || kind === 'effect.decided'),
      );
      await lab.order('r', 'resume');
      await lab.until('r', (status) => status === 'completed');
      expect(stage.names().filter((name) => name === 'put')).toHaveLength(2);
      expect(new Set(stage.outside.flatMap(({ name, key }) => (name === 'put' ? [key] : []))).size).toBe(2);
    },
  );

  test('it lets the lineage of a cancelled run go on', async () => {
    const agent = oneState({ put: put() }, async (ctx) => void (await ctx.tool('put', 1)));
    const { lab } = stage;
    const first = await stage.begin(agent);
    await lab.until('r', () => stage.names().includes('put'));
    first.kill();
    await lab.command('r', { mode: 'cancel' } as never);
    await lab.until('r', (status) => status === 'cancelled');
    expect(await row()).toMatchObject({ status: 'in-doubt' });
    stage.workers.push(await lab.worker([agent]));
    await lab.pass(2_000);
    await settle[way]();
    await lab.until('r', (_status, events) =>
      events.some(({ kind }) => kind === 'effect.verified' || kind === 'effect.decided'),
    );
    const fork = await lab.order('r', 'fork', 'start');
    await lab.until(fork, (status) => status === 'completed');
    expect(stage.names()).toEqual(['put', 'put']);
  });
});
