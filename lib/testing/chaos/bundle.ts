import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Modules of agents, loaded by workers. */
export const agentModules = ['desk', 'stubborn', 'small'] as const;

/** The demo's downstream services, each a process of its own. */
export const services = ['payments', 'mail', 'shop', 'llm'] as const;

/**
 * Compiles the child processes' entries into `folder`. Worker and agents share one copy of the SDK. Packages are part of
 * the bundle: a console that is started sixty times reads one file each time, not hundreds.
 */
export async function bundleEntries(folder: string): Promise<void> {
  // What holds native code stays outside and is found through this link; so does what this console never loads.
  await symlink(here('../../../node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: {
      worker: here('./worker-entry.ts'),
      ...Object.fromEntries(agentModules.map((name) => [name, here(`./${name}.ts`)])),
      console: here('./console-entry.ts'),
      ...Object.fromEntries(services.map((name) => [name, here(`../../demo/services/${name}.ts`)])),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['better-sqlite3', 'next', 'pg-native'],
    alias: { '@': here('../../..') },
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as rerailRequire } from 'node:module'; const require = rerailRequire(import.meta.url);",
    },
  });
}
