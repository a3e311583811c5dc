import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { acknowledgedLost, isPromise } from './acknowledged';
import { ConsoleProcess, type KillAt } from './console-process';
import { foldBroken } from './fold-check';
import { Gate } from './gate';
import { type Answer, Operator } from './operator';
import { overlapped, until } from './processes';
import { effectsBroken, journalBroken } from './promises';
import { CALM_MS, Stage } from './stage';

const SENDS = { create_refund: 'refund.create', send_mail: 'mail.send' };
const request = (ticket: string) => ({ ticket, request: 'I would like to return ORD-1003.' });

let stage: Stage;
let gate: Gate;
beforeAll(async () => {
  stage = await Stage.open(inject('chaosBundle'));
  gate = await Gate.open();
  gate.target = stage.console.port;
  stage.address = () => gate.url;
  stage.operator.patient = true;
});
afterAll(async () => {
  await gate.close();
  await stage.close();
});

/** Once the console is dead: looks at the file that it left, starts it again. What is broken. */
async function returnFromDeath(at: KillAt): Promise<readonly string[]> {
  const { signal } = await stage.console.child.exited;
  gate.target = undefined;
  const promised = gate.acknowledged.splice(0).filter(isPromise);
  const broken = [
    ...(signal === 'SIGKILL' ? [] : [`the console ended otherwise: ${stage.console.child.output}`]),
    ...(await foldBroken(stage.console.file)),
    ...(await acknowledgedLost(stage.console.file, promised)).map((what) => `acknowledged and lost: ${what}`),
  ];
  await stage.console.start();
  gate.target = stage.console.port;
  return broken.map((what) => `${at.when} statement ${at.statement}: ${what}`);
}

/** Before and after the first statement, before and after the second … */
const sweepOf = (kills: number): readonly KillAt[] =>
  Array.from({ length: kills }, (_, at) => ({
    statement: (at >> 1) + 1,
    when: at % 2 === 0 ? 'before' : 'after',
  }));

const whole = async (operator: Operator, runId: string): Promise<readonly string[]> =>
  [
    ...journalBroken(await operator.events(runId)),
    ...effectsBroken(await operator.effects(runId), await stage.ledger(), SENDS),
  ].map((what) => `${runId}: ${what}`);

describe('a console killed while it writes', () => {
  test('appends: nothing half-written, nothing acknowledged lost, workers go on, one refund and one mail', async () => {
    const began = performance.now();
    const sweep = sweepOf(30);
    let over = false;
    const home: string[] = [];
    const lanes = ['a', 'b', 'c', 'd'].map(async (lane) => {
      const worker = await stage.worker('desk', `lane-${lane}`);
      for (let n = 1; !over; n++) {
        const runId = `lane-${lane}-${n}`;
        await worker.begin(`lane-${lane}-desk`, runId, request(runId));
        await stage.operator.bringHome(runId, 200_000);
        home.push(runId);
      }
      await worker.stop();
    });
    const violations: string[] = [];
    for (const at of sweep) {
      const before = gate.acknowledged.length;
      await until('workers go on', () => gate.acknowledged.length >= before + 5, 60_000);
      await stage.console.arm(at);
      violations.push(...(await returnFromDeath(at)));
    }
    over = true;
    await Promise.all(lanes);
    for (const runId of home) violations.push(...(await whole(stage.operator, runId)));
    const lines = await stage.ledger();
    for (const operation of Object.values(SENDS)) {
      const sent = lines.filter((line) => line.operation === operation).length;
      if (sent !== home.length) violations.push(`${sent} ${operation} lines for ${home.length} runs`);
    }
    process.stdout.write(
      `kill points ${sweep.length}, violations ${violations.length} (console, in appends of ${home.length} runs, ${secondsSince(began)} s; refusals: ${stage.operator.refusalsText()})\n`,
    );
    expect(violations).toEqual([]);
  });

  test('commands: an order is accepted whole or not at all, and the same order sent again is the same order', async () => {
    const began = performance.now();
    const sweep = sweepOf(24);
    await overlapped(sweep, 8, async (_at) => {
      const as = `order-${sweep.indexOf(_at)}`;
      const victim = await stage.worker('desk', as, { at: 'effect:answered#1', signal: 'SIGKILL' }, CALM_MS);
      await victim.begin(`${as}-desk`, as, request(as));
      await victim.process.exited;
      await stage.operator.interrupted(as);
    });
    const violations: string[] = [];
    let kills = 0;
    for (const at of sweep) {
      const runId = `order-${sweep.indexOf(at)}`;
      // The refund in doubt is decided by hand in the same order that resumes.
      const [effect] = await stage.operator.effects(runId);
      const result = { id: `re-${runId}`, orderId: 'ORD-1003', amountCents: 14_800, currency: 'EUR' };
      const decision = { intentSeq: effect?.intentSeq, outcome: 'happened', result: { value: result } };
      const ask = { decisions: { [String(effect?.stepKey)]: decision } };
      const { digest } = (await stage.operator.plan(runId, ask)).body as { readonly digest: string };
      const order = { commandId: `cmd-${runId}`, mode: 'resume', from: 'latest', planDigest: digest, ...ask };
      await stage.console.arm(at);
      const given = stage.operator.command(runId, order);
      const died = await Promise.race([stage.console.child.exited.then(() => true), given.then(() => false)]);
      // An order has as many statements as it has; beyond them there is nothing to kill.
      if (!died) {
        await stage.console.disarm();
        break;
      }
      kills += 1;
      violations.push(...(await returnFromDeath(at)));
      const answers = [await given, await stage.operator.command(runId, order)];
      if (answers.some(({ status }) => status !== 202))
        violations.push(`${runId}: ${JSON.stringify(answers)}`);
      const events = await stage.operator.events(runId);
      const accepted = events.filter((event) => event.kind === 'command.accepted').length;
      if (accepted !== 1) violations.push(`${runId}: accepted ${accepted} times`);
    }
    const names = sweep.map((_, n) => `order-${n}`);
    const rescuer = await stage.worker('desk', names, undefined, CALM_MS);
    await overlapped(names, 8, async (as) => {
      await stage.operator.bringHome(as);
      violations.push(...(await whole(stage.operator, as)));
    });
    await rescuer.process.kill();
    process.stdout.write(
      `kill points ${kills}, violations ${violations.length} (console, in commands, ${secondsSince(began)} s)\n`,
    );
    expect(violations).toEqual([]);
    expect(kills).toBeGreaterThan(4);
    expect(kills).toBeLessThan(sweep.length);
  });

  test('S35 uploads: nothing of the run is there, or all of it; the retry succeeds', async () => {
    const began = performance.now();
    const exported = await exports();
    const mirror = new ConsoleProcess(inject('chaosBundle'), await mkdtemp(join(stage.folder, 'mirror-')));
    await mirror.start();
    const there = new Operator(() => mirror.url);
    const violations: string[] = [];
    let kills = 0;
    for (const { runId, text, events } of exported) {
      const at: KillAt = { statement: (kills >> 1) + 1, when: kills % 2 === 0 ? 'before' : 'after' };
      await mirror.arm(at);
      const first = await upload(there, text).catch(() => undefined);
      if (first !== undefined) break;
      await mirror.child.exited;
      kills += 1;
      violations.push(...(await foldBroken(mirror.file)));
      await mirror.start();
      const seen = await there.runIfAny(runId);
      if (seen !== undefined && seen.headSeq !== events.length)
        violations.push(
          `${runId}: ${seen.headSeq} of ${events.length} events after a kill ${JSON.stringify(at)}`,
        );
      const retried = await upload(there, text);
      if (retried.status !== (seen === undefined ? 201 : 200))
        violations.push(`${runId}: retry ${JSON.stringify(retried)}`);
      expect(await there.events(runId)).toEqual(events);
    }
    process.stdout.write(
      `kill points ${kills}, violations ${violations.length} (console, in uploads, ${secondsSince(began)} s)\n`,
    );
    expect(violations).toEqual([]);
    expect(kills).toBeGreaterThan(4);
    expect(kills).toBeLessThan(exported.length);
  });
});

const secondsSince = (began: number) => ((performance.now() - began) / 1000).toFixed(1);

const upload = (operator: Operator, text: string): Promise<Answer> => operator.call('POST', '/traces', text);

/** Every finished run of the stage as its exported file. */
async function exports(): Promise<
  readonly { readonly runId: string; readonly text: string; readonly events: readonly RunEvent[] }[]
> {
  const { items } = await stage.operator.get<{ readonly items: readonly { readonly id: string }[] }>(
    '/runs?status=completed&limit=200',
  );
  return Promise.all(
    items.map(async ({ id }) => {
      const answer = await fetch(`${stage.console.url}/api/v1/runs/${id}/export`);
      return { runId: id, text: await answer.text(), events: await stage.operator.events(id) };
    }),
  );
}
