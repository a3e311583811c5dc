import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { assertDefined } from '@/lib/core/shared/assert';
import { acknowledgedLost, isPromise } from './acknowledged';
import { ConsoleProcess, type KillAt } from './console-process';
import { foldBroken } from './fold-check';
import { type Acknowledged, Gate } from './gate';
import { type Answer, Operator } from './operator';
import { aroundCommit, modes, mustBeThere, sweepOf, WITHHELD_MS } from './orders';
import { overlapped, until } from './processes';
import { effectsBroken, journalBroken } from './promises';
import { Stage } from './stage';

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
async function returnFromDeath(at: KillAt, order?: Acknowledged): Promise<readonly string[]> {
  const { signal } = await stage.console.child.exited;
  gate.target = undefined;
  const promised = gate.acknowledged.splice(0).filter(isPromise);
  const isThere = order && (await acknowledgedLost(stage.console.file, [order])).length === 0;
  const broken = [
    ...(signal === 'SIGKILL' ? [] : [`the console ended otherwise: ${stage.console.child.output}`]),
    ...(await foldBroken(stage.console.file)),
    ...(await acknowledgedLost(stage.console.file, promised)).map((what) => `acknowledged and lost: ${what}`),
    ...(isThere === (mustBeThere(at) ?? isThere) ? [] : [`the order is ${isThere ? '' : 'not '}there`]),
  ];
  await stage.console.start();
  gate.target = stage.console.port;
  return broken.map((what) => `${at.when} statement ${at.statement} ${at.of?.text ?? ''}: ${what}`);
}

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

  test.each(Object.keys(modes))(
    'commands: %s is accepted whole or not at all, and the same order sent again is the same order',
    async (name) => {
      const began = performance.now();
      const mode = assertDefined(modes[name], 'a row of the table');
      const count = mode.sweep?.length ?? aroundCommit('').length;
      const names = Array.from({ length: count }, (_, n) => `${name}-${n}`);
      const worker = await mode.prepare(stage, names);
      const violations: string[] = [];
      /** Runs as they go on: a fork's or a replay's is the new one. */
      const homeward: string[] = [...names];
      let kills = 0;
      for (const [n, runId] of names.entries()) {
        const commandId = `cmd-${runId}`;
        const order = { commandId, reason: 'chaos', ...(await mode.order(stage, runId)) };
        const at = assertDefined((mode.sweep ?? aroundCommit(commandId))[n], 'a point for each run');
        await stage.console.arm(at);
        const given = stage.operator.command(runId, order);
        const died = await Promise.race([
          stage.console.child.exited.then(() => true),
          given.then(() => false),
        ]);
        if (!died) {
          await stage.console.disarm();
          if (mode.sweep === undefined)
            violations.push(`${runId}: not killed ${JSON.stringify(await given)}`);
          break;
        }
        kills += 1;
        violations.push(...(await returnFromDeath(at, givenTo(runId, commandId))));
        const answers = [await given, await stage.operator.command(runId, order)];
        if (answers.some(({ status }) => status !== 202) || !isDeepStrictEqual(answers[0], answers[1]))
          violations.push(`${runId}: ${JSON.stringify(answers)}`);
        const accepted = await acceptedAt(runId, commandId);
        if (accepted.length !== 1) violations.push(`${runId}: accepted in ${JSON.stringify(accepted)}`);
        homeward[n] = accepted[0] ?? runId;
      }
      const rescuer = worker ?? (await stage.worker('desk', names, undefined, WITHHELD_MS));
      await overlapped(names, 8, async (as) => {
        const runId = homeward[names.indexOf(as)] ?? as;
        if (names.indexOf(as) < kills) await mode.goOn?.(stage, runId);
        await stage.operator.bringHome(runId);
        violations.push(...(await whole(stage.operator, runId)));
      });
      await rescuer.process.kill();
      process.stdout.write(
        `kill points ${kills}, violations ${violations.length} (console, in ${name}, ${secondsSince(began)} s)\n`,
      );
      expect(violations).toEqual([]);
      if (mode.sweep === undefined) expect(kills).toBe(count);
      else {
        expect(kills).toBeGreaterThan(4);
        expect(kills).toBeLessThan(count);
      }
    },
  );

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

/** What the acknowledgement of the order would promise. */
const givenTo = (runId: string, commandId: string): Acknowledged => ({
  method: 'POST',
  path: `/api/v1/runs/${runId}/commands`,
  body: JSON.stringify({ commandId }),
  status: 202,
  answer: '',
});

/** Runs of the lineage that accepted the order, one for each time. */
async function acceptedAt(root: string, commandId: string): Promise<readonly string[]> {
  const { items } = await stage.operator.get<{ readonly items: readonly { readonly id: string }[] }>(
    `/runs?root=${root}`,
  );
  const found = await Promise.all(
    items.map(async ({ id }) =>
      (await stage.operator.events(id)).flatMap((event) =>
        event.kind === 'command.accepted' && event.commandId === commandId ? [id] : [],
      ),
    ),
  );
  return found.flat();
}

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
