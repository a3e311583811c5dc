import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { runCommand } from './sdk-commands';

const sdk = fileURLToPath(new URL('../sdk', import.meta.url));
let folder: string;
let console: TestConsole;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rerail-tarball-'));
  console = await startTestConsole();
});
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

test('the packed SDK installs in an empty project outside the repository and runs an agent there', async () => {
  await runCommand('npm', ['pack', '--pack-destination', folder], sdk);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }),
  );
  await runCommand('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], folder);
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['.package-lock.json', '@rerail']);
  await writeFile(join(folder, 'agent.mjs'), agent);
  await writeFile(join(folder, 'main.mjs'), main);
  const out = await runCommand(process.execPath, ['main.mjs', console.url], folder);
  const run = (await (await fetch(`${console.url}/api/v1/runs/${out.trim()}`)).json()) as { status: string };
  expect(run.status).toBe('completed');

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
