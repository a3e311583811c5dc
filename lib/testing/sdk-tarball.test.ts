import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { startChild } from './child-process';
import { runCommand } from './sdk-commands';

/* The packed SDK, installed in an empty project outside the repository. */

const sdk = fileURLToPath(new URL('../sdk', import.meta.url));
let folder: string;
let console: TestConsole;
const installed = (path: string) => join(folder, 'node_modules/@rerail/sdk', path);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rerail-tarball-'));
  console = await startTestConsole();
  await runCommand('npm', ['pack', '--pack-destination', folder], sdk);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }),
  );
  await runCommand('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], folder);
}, 120_000);
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  await console.close();
  await rm(folder, { recursive: true, force: true });
});

const agent = `
import { defineAgent, tool } from '@rerail/sdk';
export const agent = defineAgent({
  name: 'packed', initial: 'work',
  states: {
    work: { to: ['close'], tools: ['pay'], run: async (ctx) => { ctx.vars.set('paid', await ctx.tool('pay', ctx.input)); return 'close'; } },
    close: { to: [], final: true, run: async (ctx) => ctx.vars.get('paid') },
  },
  tools: { pay: tool({ effect: 'external', keyed: true, run: async (args) => ({ id: 're_' + args.order }) }) },
});
`;
const main = `
import { startWorker } from '@rerail/sdk';
const worker = await startWorker({ console: process.argv[2], agents: [new URL('./agent.mjs', import.meta.url)] });
const { runId } = await worker.start('packed', { input: { order: 7 } });
for (;;) {
  const run = await (await fetch(process.argv[2] + '/api/v1/runs/' + runId)).json();
  if (run.status === 'completed') break;
  if (run.status === 'failed') throw new Error(JSON.stringify(run.failure));
}
await worker.stop();
console.log(runId);
`;
/** Only what the published declarations offer: compiled with Node's own resolution. */
const typed = `
import { defineAgent, tool, startWorker, NotSent, Rejected, Unavailable, type Context, type Worker } from '@rerail/sdk';
const pay = tool({ effect: 'external', keyed: true, run: async (args: { order: number }, call) => ({ id: String(args.order) + (call.idempotencyKey ?? '') }), receipt: (r) => r.id });
export const agent = defineAgent({ name: 'a', initial: 's', states: { s: { to: [], final: true, run: async (ctx: Context) => {
  const sum: number = await ctx.compute('sum', { a: 1 }, ({ a }) => a + 1);
  const both = await ctx.parallel('two', { x: async () => 1, y: async () => 'b' });
  const n: number = both.x; const s: string = both.y;
  // @ts-expect-error a number is no text
  const wrong: string = both.x;
  return [sum, n, s, wrong];
} } }, tools: { pay } });
export const start = (): Promise<Worker> => startWorker({ console: 'http://127.0.0.1:1', agents: [] });
export const errors = [NotSent, Rejected, Unavailable];
`;

const statusOf = async (runId: string) => {
  const run = await fetch(`${console.url}/api/v1/runs/${runId}`);
  return ((await run.json()) as { status: string }).status;
};

test('holds what a user needs and nothing that points at what is not there', async () => {
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['.package-lock.json', '@rerail']);
  expect((await readdir(installed(''))).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const licence = fileURLToPath(new URL('../../LICENSE', import.meta.url));
  expect(await readFile(installed('LICENSE'), 'utf8')).toBe(await readFile(licence, 'utf8'));
  const files = (await readdir(installed('dist'))).sort();
  expect(files).toEqual(['api.d.ts', 'errors.d.ts', 'index.d.ts', 'index.js', 'public-functions.d.ts']);
  for (const file of files)
    expect(await readFile(installed(`dist/${file}`), 'utf8'), file).not.toContain('sourceMappingURL');
});

test('runs the agent of its README as it is written, and ends as it says', async () => {
  const page = await readFile(installed('README.md'), 'utf8');
  const blocks = [...page.matchAll(/```js\n\/\/ (\S+)\n(.*?)```/gs)];
  expect(blocks.map(([, name]) => name)).toEqual(['agent.mjs', 'worker.mjs']);
  for (const [, name = '', text = ''] of blocks) await writeFile(join(folder, name), text);
  vi.stubEnv('RERAIL_CONSOLE_URL', console.url);
  const worker = startChild(join(folder, 'worker.mjs'), []);
  const said = await worker.line((line) => line.startsWith(`${console.url}/runs/`));
  const runId = said.slice(`${console.url}/runs/`.length);
  await vi.waitFor(async () => expect(await statusOf(runId)).toBe('completed'), 20_000);
  worker.process.kill('SIGTERM');
  expect(await worker.ended()).toEqual({ code: 0, signal: null });
  const { items } = (await (await fetch(`${console.url}/api/v1/runs/${runId}/effects`)).json()) as {
    items: readonly object[];
  };
  expect(items).toMatchObject([{ stepKey: 'pay#1/pay#1', status: 'confirmed', receipt: 'pay_in_7' }]);
}, 60_000);

test('runs an agent, and its declarations compile with Node’s own resolution', async () => {
  await writeFile(join(folder, 'agent.mjs'), agent);
  await writeFile(join(folder, 'main.mjs'), main);
  const out = await runCommand(process.execPath, ['main.mjs', console.url], folder);
  expect(await statusOf(out.trim())).toBe('completed');

  await writeFile(join(folder, 'typed.ts'), typed);
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  await runCommand(
    process.execPath,
    [
      tsc,
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--moduleResolution',
      'nodenext',
      'typed.ts',
    ],
    folder,
  );
}, 120_000);
