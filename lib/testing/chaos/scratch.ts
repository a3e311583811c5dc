import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 1_000_000_000;

/**
 * A folder of its own, in memory where there is room: what a process has written outlives its SIGKILL there as on a disk,
 * and waiting for the disk would only hold up every process that shares it.
 */
export async function scratchFolder(name: string): Promise<string> {
  const room = await statfs(MEMORY).catch(() => undefined);
  const isRoomy = room !== undefined && room.bavail * room.bsize >= ENOUGH_BYTES;
  return mkdtemp(join(isRoomy ? MEMORY : tmpdir(), `rerail-chaos-${name}-`));
}
