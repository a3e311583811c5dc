import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as Container from './container';

const root = resolve(import.meta.dirname, '../..');

/** `container.ts` bundled by itself, as Next does it for each of its parts: every call gives another module instance. */
async function instance(folder: string, name: string): Promise<typeof Container> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [resolve(root, 'lib/server/container.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    alias: { '@': root },
    external: ['better-sqlite3', 'pg', '@prisma/*', 'pino'],
    logLevel: 'error',
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(join(root, 'package.json'))});`,
    },
  });
  return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as typeof Container;
}

describe('the composition root', () => {
  let folder = '';
  beforeAll(async () => {
    // Inside the project, so that the bundles find its packages.
    await mkdir(join(root, '.rerail'), { recursive: true });
    folder = await mkdtemp(join(root, '.rerail', 'root-'));
  });
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  it('is one for two module instances that ask at the same time, and a new one after it was closed', async () => {
    const data = await mkdtemp(join(tmpdir(), 'rerail-root-'));
    vi.stubEnv('DATABASE_URL', `file:${join(data, 'rerail.db')}`);
    vi.stubEnv('RERAIL_ROOT', root);
    vi.stubEnv('RERAIL_LOG', 'silent');
    const [one, two] = [await instance(folder, 'one'), await instance(folder, 'two')];
    expect(one.root).not.toBe(two.root);
    const [first, second] = await Promise.all([one.root(), two.root()]);
    expect(second).toBe(first);
    expect(await two.deps()).toBe(first.deps);
    await two.closeRoot();
    const third = await one.root();
    expect(third).not.toBe(first);
    await one.closeRoot();
    vi.unstubAllEnvs();
    await rm(data, { recursive: true, force: true });
  });

  it('starts again after a start that failed', async () => {
    const data = await mkdtemp(join(tmpdir(), 'rerail-root-'));
    await writeFile(join(data, 'file'), '');
    vi.stubEnv('RERAIL_ROOT', root);
    vi.stubEnv('RERAIL_LOG', 'silent');
    const container = await instance(folder, 'three');
    vi.stubEnv('DATABASE_URL', `file:${join(data, 'file', 'below-a-file.db')}`);
    await expect(container.root()).rejects.toThrow();
    vi.stubEnv('DATABASE_URL', `file:${join(data, 'rerail.db')}`);
    expect((await container.root()).deps.leaseMs).toBe(15_000);
    await container.closeRoot();
    vi.unstubAllEnvs();
    await rm(data, { recursive: true, force: true });
  });
});
