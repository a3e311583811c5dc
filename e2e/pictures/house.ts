import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineDigestOf } from '../../lib/core/machine/drift';
import { ApiClient, hash } from '../../lib/testing/api-client';
import { test as base, expect } from '../fixtures/browser';
import { startProgram } from '../fixtures/program';
import { refundAgent } from './refund-agent';
import { LEASE_MS, NOW, tellAll } from './stories';

/** A console whose clock stands, with the runs of the pictures in it. */
interface House {
  readonly url: string;
  readonly api: ApiClient;
}

async function openHouse(): Promise<House & { readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'rerail-pictures-'));
  const program = startProgram(
    'server/main.mjs',
    {
      PORT: '0',
      DATABASE_URL: `file:${join(folder, 'rerail.db')}`,
      RERAIL_DATA_DIR: folder,
      RERAIL_LEASE_MS: String(LEASE_MS),
      RERAIL_FROZEN_AT: String(Date.UTC(2026, 10, 28)),
    },
    { channel: true, preload: new URL('./frozen-clock.mjs', import.meta.url) },
  );
  const close = async () => {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [, url = ''] = await program.heard(/^rerail: (http:\S+)/m);
    const api = new ApiClient(url);
    const setClock = async (now: number) => {
      program.send({ now });
      await program.told('moved');
    };
    await tellAll({ api, setClock }, (runId) => approve(api, runId));
    // A worker that hosts today's machine, and has nothing to do.
    await api.post('/api/v1/workers/claim', {
      claimId: 'eu-1 looks for work',
      workerId: 'eu-1',
      agents: [{ name: refundAgent.agent, machineDigest: machineDigestOf(refundAgent, hash) }],
      waitMs: 0,
    });
    return { url, api, close };
  } catch (error) {
    await close();
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${program.output()}`);
  }
}

async function approve(api: ApiClient, runId: string): Promise<void> {
  const { body } = await api.get(`/api/v1/runs/${runId}/questions`);
  const { questionId, questionDigest } = body.items[0];
  const answered = await api.command(runId, {
    commandId: `approve ${runId}`,
    mode: 'answer',
    questionId,
    questionDigest,
    value: true,
  });
  if (answered.status !== 202) throw new Error(`not answered: ${JSON.stringify(answered.body)}`);
}

export const test = base.extend<object, { house: House }>({
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameters' names from the pattern
    async ({}, use) => {
      const house = await openHouse();
      await use(house);
      await house.close();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  baseURL: async ({ house }, use) => use(house.url),
  page: async ({ page }, use) => {
    await page.clock.setFixedTime(NOW);
    await use(page);
  },
});
export { expect };
