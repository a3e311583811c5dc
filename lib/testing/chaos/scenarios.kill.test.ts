import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { RunSummary } from '@/lib/wire/v1/runs';
import { Listener } from './listener';
import { until } from './processes';
import { effectsBroken, journalBroken, planBroken } from './promises';
import { CALM_MS, Stage } from './stage';
import { tally } from './tally';

const kills = tally('situations of users');
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(inject('chaosBundle'));
});
afterAll(() => stage.close());

const startsOf = (events: readonly RunEvent[], name: string) =>
  events.filter((event) => event.kind === 'step.started' && event.name === name).length;

const status = (runId: string, wanted: RunSummary['status']) =>
  until(`${runId} is ${wanted}`, async () => {
    const run = await stage.operator.runIfAny(runId);
    return run?.status === wanted ? run : undefined;
  });

const resumed = (runId: string) => until(`${runId} is resumed`, () => stage.operator.resume(runId));

describe('runs that stop half-way', () => {
  test('S01 only the failed tool runs again; refund and mail answer from the record', async () => {
    await stage.trouble('shop', '/tickets/s01', 422);
    const worker = await stage.worker('small', 's01', undefined, CALM_MS);
    await worker.begin('s01-turn', 's01', {});
    await status('s01', 'failed');
    const before = await stage.ledger();
    const order = await resumed('s01');
    expect(order.plan.steps.map((step) => [step.name, step.disposition])).toEqual([
      ['create_refund', 'skip'],
      ['send_mail', 'skip'],
      ['close_ticket', 'retry-same-key'],
    ]);
    await status('s01', 'completed');
    const events = await stage.operator.events('s01');
    expect(planBroken(order, events)).toEqual([]);
    expect((await stage.ledger()).slice(before.length)).toEqual([]);
    await worker.process.kill();
  });

  test('S02 killed after the provider answered and before it was recorded: in doubt, not sent, until verified', async () => {
    const victim = await stage.worker(
      'small',
      's02',
      { at: 'effect:answered#1', signal: 'SIGKILL' },
      CALM_MS,
    );
    await victim.begin('s02-turn', 's02', {});
    await victim.process.exited;
    kills.killed();
    const rescuer = await stage.worker('small', 's02', undefined, CALM_MS);
    const run = await stage.operator.interrupted('s02');
    expect(run).toMatchObject({
      effectsInDoubt: 1,
      interruption: { cause: 'lease-lapsed', workerId: victim.id },
    });
    const planned = await stage.operator.plan('s02');
    expect(planned.body).toMatchObject({
      steps: [{ name: 'create_refund', disposition: 'needs-decision' }],
      obstacles: [{ kind: 'needs-decision' }],
    });
    const { digest } = planned.body as { readonly digest: string };
    const refused = await stage.operator.command('s02', {
      mode: 'resume',
      from: 'latest',
      planDigest: digest,
    });
    expect(refused.status).toBeGreaterThanOrEqual(409);
    const [doubtful] = await stage.operator.effects('s02');
    expect(doubtful).toMatchObject({ status: 'in-doubt', executions: 1 });
    await stage.operator.bringHome('s02');
    const [effect] = await stage.operator.effects('s02');
    expect(effect).toMatchObject({ status: 'confirmed', confirmedBy: 'probe', executions: 1 });
    expect(
      effectsBroken(await stage.operator.effects('s02'), await stage.ledger(), {
        create_refund: 'refund.create',
        send_mail: 'mail.send',
      }),
    ).toEqual([]);
    await rescuer.process.kill();
  });

  test('S05 an external tool that times out is not sent again by any retry; it is in doubt', async () => {
    await stage.trouble('payments', '/refunds', 'hold');
    const worker = await stage.worker('small', 's05');
    await worker.begin('s05-eager', 's05', {});
    const run = await status('s05', 'waiting');
    expect(run).toMatchObject({ phase: 'waiting_human', effectsInDoubt: 1 });
    const [effect] = await stage.operator.effects('s05');
    const sent = async () =>
      (await stage.ledger()).filter(
        (line) => line.idempotencyKey === effect?.idempotencyKey && line.operation === 'refund.create',
      );
    // The service writes down what it got when it gets to it, which may be after the caller's patience.
    await until('the payment provider got the call', async () => (await sent()).length > 0);
    await stage.operator.bringHome('s05');
    expect(await sent()).toHaveLength(1);
    const events = await stage.operator.events('s05');
    expect(journalBroken(events)).toEqual([]);
    expect(startsOf(events, 'create_refund')).toBe(1);
    await worker.process.kill();
  });

  test('S06 of three branches one dies: the finished ones are not run again, every step ran once for each attempt', async () => {
    await stage.trouble('shop', '/policies', 500);
    const worker = await stage.worker('small', 's06', undefined, CALM_MS);
    await worker.begin('s06-branches', 's06', {});
    await status('s06', 'failed');
    const order = await resumed('s06');
    await status('s06', 'completed');
    const events = await stage.operator.events('s06');
    expect(planBroken(order, events)).toEqual([]);
    expect(startsOf(events, 'search_orders')).toBe(1);
    expect(startsOf(events, 'customer_history')).toBe(1);
    const steps = await stage.operator.get<{
      readonly items: readonly {
        readonly name: string;
        readonly attempt: number;
        readonly executions: number;
      }[];
    }>('/runs/s06/steps');
    for (const step of steps.items) expect([step.name, step.executions]).toEqual([step.name, step.attempt]);
    await worker.process.kill();
  });

  test('S11 of two people who resume in the same second one wins and the other is told who; nothing ran twice', async () => {
    const victim = await stage.worker(
      'small',
      's11',
      { at: 'effect:recorded#1', signal: 'SIGKILL' },
      CALM_MS,
    );
    await victim.begin('s11-turn', 's11', {});
    await victim.process.exited;
    kills.killed();
    await stage.operator.interrupted('s11');
    await stage.operator.verifyAll('s11');
    const planned = (await stage.operator.plan('s11')).body as { readonly digest: string };
    const rescuers = await Promise.all([1, 2].map(() => stage.worker('small', 's11', undefined, CALM_MS)));
    const order = { mode: 'resume', from: 'latest', planDigest: planned.digest };
    const answers = await Promise.all([
      stage.operator.command('s11', order),
      stage.operator.command('s11', order),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409]);
    const told = answers.find((answer) => answer.status === 409)?.body;
    expect(told).toMatchObject({ type: 'urn:rerail:problem:held', holder: expect.anything() });
    await status('s11', 'completed');
    expect(
      effectsBroken(await stage.operator.effects('s11'), await stage.ledger(), {
        create_refund: 'refund.create',
        send_mail: 'mail.send',
      }),
    ).toEqual([]);
    expect(journalBroken(await stage.operator.events('s11'))).toEqual([]);
    await Promise.all(rescuers.map((each) => each.process.kill()));
  });

  test('S19 a run whose worker died is interrupted for list, API and stream alike, and cancel works', async () => {
    const all = await Listener.open<{ readonly runId: string; readonly status: string }>(
      stage.console.url,
      '',
    );
    const victim = await stage.worker(
      'small',
      's19',
      { at: 'effect:answered#1', signal: 'SIGKILL' },
      CALM_MS,
    );
    await victim.begin('s19-turn', 's19', {});
    await victim.process.exited;
    kills.killed();
    await stage.operator.interrupted('s19');
    const agree = async (wanted: string) => {
      const list = await stage.operator.get<{ readonly items: readonly RunSummary[] }>(
        `/runs?status=${wanted}&q=s19`,
      );
      expect(list.items.map((run) => [run.id, run.status])).toEqual([['s19', wanted]]);
      expect((await stage.operator.run('s19')).status).toBe(wanted);
      const running = await stage.operator.get<{ readonly items: readonly RunSummary[] }>(
        '/runs?status=running&q=s19',
      );
      expect(running.items).toEqual([]);
      await until(`the stream of all runs says ${wanted}`, () => {
        const own = all.heard.filter(({ runId }) => runId === 's19');
        return own.at(-1)?.status === wanted;
      });
      await until(`the run's own stream has run.${wanted}`, () =>
        journal.heard.some(({ kind }) => kind === `run.${wanted}`),
      );
    };
    const journal = await Listener.open<RunEvent>(stage.console.url, '?run=s19&after=0');
    await agree('interrupted');
    expect((await stage.operator.command('s19', { mode: 'cancel' })).status).toBe(202);
    await status('s19', 'cancelled');
    await agree('cancelled');
    // Its refund may have been made: the doubt outlives the run, visibly.
    expect((await stage.operator.run('s19')).effectsInDoubt).toBe(1);
    expect(journal.heard).toEqual(await stage.operator.events('s19'));
    await Promise.all([all.close(), journal.close()]);
  });
});
