import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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

const stampFile = (name) => join(workDir, 'stamps', name);

/** True where the step `name` ended well for the same inputs before. */
export function isStamped(name, digest) {
  try {
    return readFileSync(stampFile(name), 'utf8') === digest;
  } catch {
    return false;
  }
}

export function writeStamp(name, digest) {
  mkdirSync(join(workDir, 'stamps'), { recursive: true });
  writeFileSync(stampFile(name), digest);
}
