import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../../lib/testing/api-client';
import { test as base, expect } from '../fixtures/browser';
import { startProgram } from '../fixtures/program';
import { LEASE_MS, NOW } from './stories';
import { type Town, tellAll } from './town';

/** A console whose clock stands, with the runs of the pictures in it. */
interface House {
  readonly url: string;
  /** As the workers' program. */
  readonly api: ApiClient;
  /** As the operator who looks at it. */
  readonly ada: ApiClient;
  /** Her session, as the browser keeps it. */
  readonly session: { readonly name: string; readonly value: string };
  readonly town: Town;
}

const TOKENS = { operator: 'the-token-of-the-people', admin: 'the-token-of-the-workers' } as const;
const BEGINS = Date.UTC(2026, 10, 27);

/** A console with a folder of its own, to be closed by who opened it. */
async function openConsole(env: (folder: string) => Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'rerail-pictures-'));
  const program = startProgram(
    'server/main.mjs',
    {
      PORT: '0',
      DATABASE_URL: `file:${join(folder, 'rerail.db')}`,
      RERAIL_DATA_DIR: folder,
      ...env(folder),
    },
    { channel: true, preload: new URL('./frozen.mjs', import.meta.url) },
  );
  const close = async () => {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const [, url = ''] = await program.heard(/^rerail: (http:\S+)/m);
  return { program, url, close };
}

async function openHouse(): Promise<House & { readonly close: () => Promise<void> }> {
  const entries = [
    { name: 'people', role: 'operator', token: TOKENS.operator },
    { name: 'workers', role: 'admin', token: TOKENS.admin },
  ];
  const { program, url, close } = await openConsole((folder) => {
    const tokens = join(folder, 'tokens.json');
    writeFileSync(tokens, JSON.stringify(entries), { mode: 0o600 });
    return {
      RERAIL_TOKENS_FILE: tokens,
      RERAIL_SESSION_HOURS: '96',
      RERAIL_LEASE_MS: String(LEASE_MS),
      RERAIL_FROZEN_AT: String(BEGINS),
    };
  });
  try {
    const api = new ApiClient(url, { authorization: `Bearer ${TOKENS.admin}` });
    const session = await signedIn(url);
    const ada = new ApiClient(url, { cookie: `${session.name}=${session.value}`, origin: url });
    const setClock = async (now: number) => {
      program.send({ now });
      await program.told('moved');
    };
    return { url, api, ada, session, town: await tellAll({ api, ada, setClock }), close };
  } catch (error) {
    await close();
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${program.output()}`);
  }
}

async function signedIn(url: string): Promise<House['session']> {
  const { status, headers, body } = await new ApiClient(url, { origin: url }).post('/api/v1/session', {
    name: 'Ada',
    token: TOKENS.operator,
  });
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(headers.get('set-cookie') ?? '') ?? [];
  if (status !== 200 || value === '') throw new Error(`not signed in: ${JSON.stringify(body)}`);
  return { name, value };
}

interface Worker {
  readonly house: House;
  /** Address of a console that has received nothing. */
  readonly empty: string;
}
interface Options {
  readonly onLinux: undefined;
  /** Whether Ada is signed in. */
  readonly signedIn: boolean;
}

export const test = base.extend<Options, Worker>({
  // Before a house is opened.
  onLinux: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameters' names from the pattern
    async ({}, use, { skip }) => {
      skip(process.platform !== 'linux', 'text is drawn otherwise than on Linux, where they were taken');
      await use(undefined);
    },
    { auto: true },
  ],
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameters' names from the pattern
    async ({}, use) => {
      const house = await openHouse();
      await use(house);
      await house.close();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  empty: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameters' names from the pattern
    async ({}, use) => {
      const { url, close } = await openConsole(() => ({ RERAIL_FROZEN_AT: String(NOW) }));
      await use(url);
      await close();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  signedIn: [true, { option: true }],
  baseURL: async ({ house }, use) => use(house.url),
  page: async ({ page, context, house, signedIn: isSignedIn }, use) => {
    if (isSignedIn)
      await context.addCookies([{ ...house.session, url: house.url, httpOnly: true, sameSite: 'Strict' }]);
    await page.clock.setFixedTime(NOW);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await use(page);
  },
});
export { expect };
