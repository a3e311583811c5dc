import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { isFrozen, until } from './processes';
import { comparePlan, effectsBroken, isCarriedOut, journalBroken, planBroken } from './promises';
import { CALM_MS, Stage, type Worker } from './stage';
import { tally } from './tally';

const SENDS = { create_refund: 'refund.create', send_mail: 'mail.send' };
/** The intent is on disk; the worker is about to look at the clock a last time. */
const BEFORE_CHECK = 'effect:before-send#1';
/** It has looked, and the call is handed to the tool, which has not sent it yet. */
const AFTER_CHECK = 'effect:after-send#1';

const kills = tally('frozen workers');
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(inject('chaosBundle'));
});
afterAll(() => stage.close());

/** Starts a run whose worker freezes at the point, and waits until the console calls it interrupted. */
async function freeze(as: string, agent: 'desk' | 'stubborn', at: string): Promise<Worker> {
  const zombie = await stage.worker(agent, as, { at, signal: 'SIGSTOP' }, CALM_MS);
  await zombie.begin(`${as}-${agent}`, as, { ticket: as, request: 'I would like to return ORD-1003.' });
  await until(`${as} is frozen at ${at}`, () => isFrozen(zombie.process.pid));
  kills.killed();
  await stage.operator.interrupted(as);
  return zombie;
}

async function linesOf(runId: string, operation: string) {
  const keys = new Set((await stage.operator.effects(runId)).map((row) => row.idempotencyKey));
  return (await stage.ledger()).filter(
    (line) => line.operation === operation && keys.has(line.idempotencyKey),
  );
}

const lateOutcomes = (events: readonly RunEvent[]) =>
  events.filter((event) => event.kind === 'effect.verified' && event.source === 'late-worker');

describe('a worker frozen past its lease', () => {
  test('between intent and last look at the clock sends nothing when it thaws: one refund', async () => {
    const zombie = await freeze('before-check', 'desk', BEFORE_CHECK);
    const rescuer = await stage.worker('desk', 'before-check', undefined, CALM_MS);
    const orders = await stage.operator.bringHome('before-check');
    zombie.process.signal('SIGCONT');
    await zombie.stop();
    await rescuer.process.kill();
    const events = await stage.operator.events('before-check');
    expect(orders.flatMap((order) => planBroken(order, events))).toEqual([]);
    expect(journalBroken(events)).toEqual([]);
    expect(await linesOf('before-check', 'refund.create')).toMatchObject([{ deduplicated: false }]);
    expect(effectsBroken(await stage.operator.effects('before-check'), await stage.ledger(), SENDS)).toEqual(
      [],
    );
  });

  test('after that look sends late under the same key: one refund made, the late outcome kept as evidence', async () => {
    const zombie = await freeze('after-check', 'stubborn', AFTER_CHECK);
    const rescuer = await stage.worker('stubborn', 'after-check', undefined, CALM_MS);
    await stage.operator.bringHome('after-check');
    zombie.process.signal('SIGCONT');
    await until(
      'the late outcome is evidence',
      async () => lateOutcomes(await stage.operator.events('after-check')).length === 1,
    );
    await zombie.stop();
    await rescuer.process.kill();
    expect(await linesOf('after-check', 'refund.create')).toMatchObject([
      { deduplicated: false },
      { deduplicated: true },
    ]);
    expect(await linesOf('after-check', 'mail.send')).toHaveLength(1);
    const events = await stage.operator.events('after-check');
    expect(journalBroken(events)).toEqual([]);
    expect(lateOutcomes(events)).toMatchObject([{ outcome: 'happened' }]);
    expect((await stage.operator.run('after-check')).status).toBe('completed');
  });

  test('after that look, its run cancelled meanwhile, settles the doubt by its evidence', async () => {
    const zombie = await freeze('evidence', 'stubborn', AFTER_CHECK);
    expect((await stage.operator.command('evidence', { mode: 'cancel' })).status).toBe(202);
    expect(await stage.operator.run('evidence')).toMatchObject({ status: 'cancelled', effectsInDoubt: 1 });
    zombie.process.signal('SIGCONT');
    await until(
      'the late outcome is evidence',
      async () => lateOutcomes(await stage.operator.events('evidence')).length === 1,
    );
    await zombie.stop();
    expect(await stage.operator.run('evidence')).toMatchObject({ status: 'cancelled', effectsInDoubt: 0 });
    expect(await stage.operator.effects('evidence')).toMatchObject([
      { name: 'create_refund', status: 'confirmed', confirmedBy: 'late-worker' },
    ]);
    expect(await linesOf('evidence', 'refund.create')).toMatchObject([{ deduplicated: false }]);
  });

  test('and thawed once an order was accepted, writes nothing in its old epoch, and the plan is what runs', async () => {
    // Its model's answer is recorded and the next state is about to be; a plan made now keeps that answer.
    const zombie = await freeze('ordered', 'desk', 'append:before#9');
    const order = await stage.operator.resume('ordered');
    if (order === undefined) throw new Error(`refused: ${stage.operator.lastRefusal}`);
    zombie.process.signal('SIGCONT');
    // Its process may be the one that carries the order out: as any other worker would, by the plan.
    await until('the run is over', async () => (await stage.operator.run('ordered')).status === 'completed');
    await zombie.stop();
    const events = await stage.operator.events('ordered');
    const accepted = events.findIndex((event) => event.kind === 'command.accepted');
    expect(events.slice(accepted).filter(({ by, epoch }) => by === 'worker' && epoch === 1)).toEqual([]);
    expect(comparePlan(order, events)).toEqual({ steps: order.plan.steps.length, broken: [] });
    expect(order.plan.steps.map(({ disposition }) => disposition)).toContain('reuse');
    expect(isCarriedOut(order, events)).toBe(true);
    expect(effectsBroken(await stage.operator.effects('ordered'), await stage.ledger(), SENDS)).toEqual([]);
  });

  test('and thawed before anybody claimed its run goes on by itself: revived, one refund, one mail', async () => {
    const zombie = await freeze('revived', 'desk', BEFORE_CHECK);
    zombie.process.signal('SIGCONT');
    await until('the run is over', async () => (await stage.operator.run('revived')).status === 'completed');
    await zombie.stop();
    const events = await stage.operator.events('revived');
    expect(events.filter((event) => event.kind === 'run.resumed' && event.revived)).toHaveLength(1);
    expect(journalBroken(events)).toEqual([]);
    expect(effectsBroken(await stage.operator.effects('revived'), await stage.ledger(), SENDS)).toEqual([]);
  });
});
