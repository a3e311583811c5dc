import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { assertDefined } from '@/lib/core/shared/assert';
import { foldBroken } from './fold-check';
import type { Order } from './operator';
import { overlapped, until } from './processes';
import { comparePlan, effectsBroken, isCarriedOut, journalBroken } from './promises';
import { CALM_MS, Stage, type Worker } from './stage';

const SENDS = { create_refund: 'refund.create', send_mail: 'mail.send' };
/** Runs at once: each mostly waits, for a lease to lapse or for a probe to be definite. */
const WIDTH = 12;
const BRING_HOME_MS = 120_000;
/** Processes of workers that take over; each takes its share of the runs. */
const RESCUERS = 4;
/** How long a worker may take from its last append to the points behind it. */
const LAST_POINT_MS = 5_000;
/** How often a point is tried again where a time-out led the run past it. */
const MOST_TRIES = 8;

/** Without approval, two laps of the policy loop; and with approval, one lap. */
const TWO_LINES = 'I would like to return ORD-1003.';
const ABOVE_LIMIT = 'I would like to return ORD-1002.';

interface Death {
  readonly as: string;
  readonly request: string;
  readonly point: string;
  /** Its worker asks a person before the point, or at it. */
  readonly asks: boolean;
}

let stage: Stage;
const count = { runs: 0, triedAgain: 0, orders: 0, carriedOut: 0, comparisons: 0, misses: 0 };
/** What went wrong in the runs by kind. In batches of one an intent may wait for so many others that it leaves too late. */
const troubles = new Map<string, number>();
const noteTrouble = (kind: string) => troubles.set(kind, (troubles.get(kind) ?? 0) + 1);

beforeAll(async () => {
  stage = await Stage.open(inject('chaosBundle'));
});
afterAll(() => stage.close());

/** A call timed out, or a worker was late with a heartbeat: such a life has points of its own. */
const isRough = (events: readonly RunEvent[]): boolean =>
  events.some((event) => event.kind === 'step.failed' || event.kind === 'run.interrupted');

/** One life of a run without any death: the points that its worker passed, and how many of them before it asked a person. */
async function dryRun(
  as: string,
  request: string,
): Promise<{ readonly points: readonly string[]; readonly beforeAsking: number }> {
  count.runs += 1;
  const worker = await stage.worker('desk', as, undefined, CALM_MS);
  await worker.begin(`${as}-desk`, as, { ticket: as, request });
  const asked = await until(`${as} asks or ends`, async () => {
    const { status } = await stage.operator.run(as);
    return status === 'waiting' || status === 'completed' ? status : undefined;
  });
  const beforeAsking = asked === 'waiting' ? (await worker.points()).length : 0;
  await stage.operator.bringHome(as);
  const points = await worker.points();
  await worker.stop();
  return isRough(await stage.operator.events(as)) ? dryRun(`${as}+`, request) : { points, beforeAsking };
}

/** A journal in one line, for a violation's message. */
const journalText = (events: readonly RunEvent[]): string =>
  events
    .map(
      (event) => `${event.seq}/${event.epoch} ${event.kind}${'stepKey' in event ? ` ${event.stepKey}` : ''}`,
    )
    .join(', ');

/** What is broken in a run that came home. */
async function brokenIn(runId: string, orders: readonly Order[]): Promise<readonly string[]> {
  const events = await stage.operator.events(runId);
  const broken = [
    ...journalBroken(events),
    ...effectsBroken(await stage.operator.effects(runId), await stage.ledger(), SENDS),
  ];
  for (const order of orders) {
    const compared = comparePlan(order, events);
    count.orders += 1;
    count.comparisons += compared.steps;
    count.misses += compared.broken.length;
    if (isCarriedOut(order, events)) count.carriedOut += 1;
    broken.push(...compared.broken);
  }
  const last = orders.at(-1);
  if (last !== undefined && !isCarriedOut(last, events)) broken.push('its last order was not carried out');
  for (const event of events) {
    if (event.kind === 'step.failed') noteTrouble(`call ${event.failure}`);
    if (event.kind === 'run.interrupted') noteTrouble('lapse, deaths among them');
  }
  return broken.length === 0 ? [] : [...broken, journalText(events)];
}

/**
 * Kills the worker of a fresh run at the point, lets another one and a person bring it home. What is broken. Where a
 * person is asked, a rescuer that stands by may take up the answered run before the victim does: there it comes to host
 * the agent once the victim is dead.
 */
async function die(death: Death, rescuer: Worker, tries = 1): Promise<readonly string[]> {
  const { request, point } = death;
  const as = tries === 1 ? death.as : `${death.as}.${tries}`;
  count.runs += 1;
  const victim = await stage.worker('desk', death.as, { at: point, signal: 'SIGKILL' });
  await victim.begin(`${death.as}-desk`, as, { ticket: as, request });
  let home = false;
  const late = death.asks
    ? victim.process.exited.then(() => (home ? undefined : stage.guest(rescuer, 'desk', death.as)))
    : undefined;
  const failed: string[] = [];
  const orders = await stage.operator
    .bringHome(as, BRING_HOME_MS)
    .catch(async (error: unknown): Promise<readonly Order[]> => {
      const { status, pending } = await stage.operator.run(as);
      const refusal = stage.operator.lastRefusal;
      failed.push(`${error}; ${JSON.stringify({ status, pending, refusal })}`);
      failed.push(journalText(await stage.operator.events(as)), victim.process.output);
      failed.push(rescuer.process.output);
      return [];
    });
  home = true;
  // A run is home with its last append, and the point may lie right behind that.
  const exit = await until('the victim dies', () => victim.process.exit, LAST_POINT_MS).catch(
    () => undefined,
  );
  await victim.process.kill();
  (await late)?.();
  if (failed.length > 0) return failed;
  const broken = await brokenIn(as, orders);
  if (exit?.signal === 'SIGKILL') return broken;
  if (exit !== undefined)
    return [...broken, `its worker ended otherwise: ${JSON.stringify(exit)} ${victim.process.output}`];
  // A time-out led past the point, or the rescuer took the run up there: the point is still to be died at.
  if (tries >= MOST_TRIES || !isRough(await stage.operator.events(as)))
    return [...broken, 'its worker never came to the point'];
  count.triedAgain += 1;
  return [...broken, ...(await die(death, rescuer, tries + 1))];
}

describe('a worker killed at any point of a run', () => {
  test('S02 leaves a run that comes home with each effect sent once, none lost, as the plan said', async () => {
    const began = performance.now();
    const [plain, asking] = await Promise.all([dryRun('dry', TWO_LINES), dryRun('dry-asking', ABOVE_LIMIT)]);
    const deaths: readonly Death[] = [
      ...plain.points.map((point, n) => ({ as: `kill-${n}`, request: TWO_LINES, point, asks: false })),
      // What comes before the question is as in the other run; its own append and what follows is not.
      ...asking.points
        .slice(asking.beforeAsking - 4)
        .map((point, n) => ({ as: `asking-${n}`, request: ABOVE_LIMIT, point, asks: true })),
    ];
    // One rescuer for several runs: what a worker carries over from one run to the next would show.
    const rescuers = await Promise.all(
      Array.from({ length: RESCUERS }, (_, n) =>
        stage.worker(
          'desk',
          deaths.filter(({ asks }, at) => !asks && at % RESCUERS === n).map(({ as }) => as),
        ),
      ),
    );
    const found = await overlapped(deaths, WIDTH, async (death) => {
      const rescuer = assertDefined(rescuers[deaths.indexOf(death) % RESCUERS], 'one for each remainder');
      return (await die(death, rescuer)).map((what) => `${death.as} ${death.point}: ${what}`);
    });
    const violations = found.flat();
    const lines = await stage.ledger();
    for (const operation of Object.values(SENDS)) {
      const sent = lines.filter((line) => line.operation === operation).length;
      if (sent !== count.runs) violations.push(`${sent} ${operation} lines for ${count.runs} runs`);
    }
    await stage.console.kill();
    violations.push(...(await foldBroken(stage.console.file)));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(
      [
        `kill points ${deaths.length}, violations ${violations.length} (${seconds} s)`,
        `predicted against executed: comparisons ${count.comparisons}, misses ${count.misses} (orders ${count.orders}, carried out ${count.carriedOut})`,
        `runs ${count.runs}, points tried again ${count.triedAgain}, troubles: ${[...troubles].map(([kind, n]) => `${kind} ${n}`).join(', ')}, resumed after a final time-out ${stage.operator.timeouts}`,
        `refusals: ${stage.operator.refusalsText()}`,
        '',
      ].join('\n'),
    );
    expect(violations).toEqual([]);
    expect(count.comparisons).toBeGreaterThan(deaths.length);
  }, 900_000);
});
