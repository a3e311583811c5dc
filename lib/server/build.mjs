import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Bundles `main.ts`; packages stay outside, so natives and Next load from `node_modules`. Returns the file's path. */
export async function buildServer(outfile = resolve(root, '.rerail/server/main.mjs')) {
  await mkdir(dirname(outfile), { recursive: true });
  await build({
    entryPoints: [resolve(root, 'lib/server/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    alias: { '@': root },
    sourcemap: true,
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as rerailRequire } from 'node:module'; const require = rerailRequire(import.meta.url);",
    },
  });
  return outfile;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildServer();
