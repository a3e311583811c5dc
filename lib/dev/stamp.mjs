import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot, workDir } from './paths.mjs';

function filesUnder(path, skip) {
  const stat = statSync(inRoot(path), { throwIfNoEntry: false });
  if (stat === undefined || skip(path)) return [];
  if (!stat.isDirectory()) return [path];
  return readdirSync(inRoot(path))
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`, skip));
}

/** Digest of the names and contents of files and folders, and of the words in `also`. */
export function digestOfFiles(paths, { skip = () => false, also = [] } = {}) {
  const hash = createHash('sha256');
  for (const word of also) hash.update(`${word}\0`);
  for (const file of paths.flatMap((path) => filesUnder(path, skip))) {
    hash.update(`${file}\0`);
    hash.update(
      createHash('sha256')
        .update(readFileSync(inRoot(file)))
        .digest(),
    );
  }
  return hash.digest('hex');
}

const read = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Does `work` unless the step `name` ended well for the same inputs before and what it makes is there. While it works
 * there is no stamp: one that is cut short has spoilt what the last stamp stood for.
 */
export async function stamped({ name, digest, makes = [], folder = join(workDir, 'stamps') }, work) {
  const stamp = join(folder, name);
  if (read(stamp) === digest && makes.every((path) => existsSync(inRoot(path)))) return;
  rmSync(stamp, { force: true });
  await work();
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, digest);
}
