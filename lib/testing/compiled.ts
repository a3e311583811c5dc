import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a TypeScript program for `node`, packages left out: it lies under `.rerail/` in the repository, from where
 * they are found. `remove` deletes it.
 */
export async function compileProgram(
  entry: string,
): Promise<{ readonly file: string; readonly remove: () => void }> {
  const folder = path.resolve('.rerail', `test-${randomUUID()}`);
  const file = path.join(folder, `${path.basename(entry, '.ts')}.mjs`);
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'silent',
  });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
