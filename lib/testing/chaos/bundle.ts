import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Modules of agents, loaded by workers. */
export const agentModules = ['desk', 'stubborn', 'small'] as const;

/** The demo's downstream services, each a process of its own. */
export const services = ['payments', 'mail', 'shop', 'llm'] as const;

/** Compiles the child processes' entries into `folder`. Worker and agents share one copy of the SDK. */
export async function bundleEntries(folder: string): Promise<void> {
  // Packages stay outside the bundle, as in the console's own build, and are found from it through this link.
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
    sourcemap: true,
    packages: 'external',
    alias: { '@': here('../../..') },
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as rerailRequire } from 'node:module'; const require = rerailRequire(import.meta.url);",
    },
  });
}
