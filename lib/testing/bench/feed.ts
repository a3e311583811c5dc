import { machineDigestOf } from '@/lib/core/machine/drift';
import type { BenchConsole } from './console-process';
import { EVENTS_A_VISIT, hash, machine, values, visitEvents } from './synthetic-run';

const VISITS_A_BATCH = 200;

/** Records a synthetic run of at least `events` events over HTTP, as a worker would, and gives its head. */
export async function feedRun(console: BenchConsole, runId: string, events: number): Promise<number> {
  const digest = machineDigestOf(machine, hash);
  await console.send('PUT', `/machines/${digest}`, JSON.stringify(machine));
  const created = (await console.send(
    'POST',
    '/runs',
    JSON.stringify({ runId, workerId: 'bench', agent: machine.agent, machineDigest: digest }),
  )) as { readonly epoch: number; readonly headSeq: number };
  let head = created.headSeq;
  let visit = 0;
  for (let batch = 1; head < events; batch++) {
    const visits = Math.min(VISITS_A_BATCH, Math.ceil((events - head) / EVENTS_A_VISIT));
    const body = {
      epoch: created.epoch,
      batch,
      seenSeq: head,
      events: Array.from({ length: visits }, () => visitEvents(++visit)).flat(),
      ...(batch === 1
        ? { payloads: values.map(({ ref, text }) => ({ sha256: ref.sha256, codec: ref.codec, text })) }
        : {}),
    };
    const answer = (await console.send('POST', `/runs/${runId}/events`, JSON.stringify(body))) as {
      headSeq: number;
    };
    head = answer.headSeq;
  }
  return head;
}
