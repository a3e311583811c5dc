import { Agent } from 'node:http';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { BenchConsole } from './console-process';
import { timed } from './figures';
import { post } from './floor';
import { EVENTS_A_VISIT, hash, machine, stepWithPayloads, values, visitEvents } from './synthetic-run';

const VISITS_A_BATCH = 200;

async function createRun(console: Pick<BenchConsole, 'send'>, runId: string) {
  const digest = machineDigestOf(machine, hash);
  await console.send('PUT', `/machines/${digest}`, JSON.stringify(machine));
  const body = { runId, workerId: 'bench', agent: machine.agent, machineDigest: digest };
  return (await console.send('POST', '/runs', JSON.stringify(body))) as {
    readonly epoch: number;
    readonly headSeq: number;
  };
}

/** Milliseconds of each append of one step with its payloads, sent by a bare client: the console's part of a step. */
export async function appendTimes(
  console: BenchConsole,
  runId: string,
  steps: number,
): Promise<readonly number[]> {
  const { epoch, headSeq } = await createRun(console, runId);
  const url = `${console.url}/api/v1/runs/${runId}/events`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const bodies = Array.from({ length: steps }, (_, i) =>
    JSON.stringify({ epoch, batch: i + 1, seenSeq: headSeq + 2 * i, ...stepWithPayloads(i) }),
  );
  const samples = await timed(steps, (i) => post(url, agent, Buffer.from(bodies[i] ?? '')));
  agent.destroy();
  return samples;
}

/** Records a synthetic run of at least `events` events over HTTP, as a worker would, and gives its head. */
export async function feedRun(
  console: Pick<BenchConsole, 'send'>,
  runId: string,
  events: number,
): Promise<number> {
  const created = await createRun(console, runId);
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
