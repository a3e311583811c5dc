import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: { main: here('main.ts'), agents: here('agents.ts'), 'echo-server': here('echo-server.ts') },
  outdir: here('../../../.rerail/bench'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  alias: { '@': here('../../..') },
  sourcemap: true,
  logLevel: 'warning',
});
