import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Bundles `main.ts`, and beside it the thread that decodes uploads; packages stay outside, so natives and Next load from `node_modules`. Returns the file's path. */
export async function buildServer(outfile = resolve(root, '.rerail/server/main.mjs')) {
  await mkdir(dirname(outfile), { recursive: true });
  const bundle = (entry, file) =>
    build({
      ...options,
      entryPoints: [resolve(root, 'lib/server', entry)],
      outfile: file,
    });
  await Promise.all([
    bundle('main.ts', outfile),
    bundle('decode-worker.ts', resolve(dirname(outfile), 'decode-worker.mjs')),
  ]);
  return outfile;
}

const options = {
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
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildServer();
