import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine } from '@/lib/core/machine/machine';
import type { BenchConsole } from './console-process';
import { hash } from './synthetic-run';
import { seededRandom } from './workload';

/** So many states in a ring with chords, as nobody draws a machine, but as one that was mined may look. */
export function wideMachine(states: number, edges: number): Machine {
  const random = seededRandom(5);
  const name = (n: number) => `state_${n % states}`;
  const out = Array.from({ length: states }, (_, n) => new Set([name(n + 1)]));
  for (let n = states; n < edges; n += 1)
    out[Math.floor(random() * states)]?.add(name(Math.floor(random() * states)));
  return {
    agent: 'bench-wide',
    provenance: 'declared',
    initial: name(0),
    states: Object.fromEntries(out.map((to, n) => [name(n), { transitions: [...to], tools: [] }])),
    tools: {},
  };
}

/** A run that went through the first `visits` states of a wide machine, and is in the last of them. */
export async function feedWide(
  console: Pick<BenchConsole, 'send'>,
  runId: string,
  machine: Machine,
  visits: number,
): Promise<void> {
  const digest = machineDigestOf(machine, hash);
  await console.send('PUT', `/machines/${digest}`, JSON.stringify(machine));
  const created = (await console.send(
    'POST',
    '/runs',
    JSON.stringify({ runId, workerId: 'bench', agent: machine.agent, machineDigest: digest }),
  )) as { readonly epoch: number; readonly headSeq: number };
  const events = Array.from({ length: visits }, (_, n) => {
    const key = `state_${n}#1`;
    const at = { key, state: `state_${n}`, visit: 1 };
    return [
      { kind: 'state.entered', ...at, ...(n === 0 ? {} : { from: `state_${n - 1}` }) },
      ...(n === visits - 1 ? [] : [{ kind: 'state.left', ...at, to: `state_${n + 1}` }]),
    ];
  }).flat();
  await console.send(
    'POST',
    `/runs/${runId}/events`,
    JSON.stringify({ epoch: created.epoch, batch: 1, seenSeq: created.headSeq, events }),
  );
}
