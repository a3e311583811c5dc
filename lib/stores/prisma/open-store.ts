import type { Store } from '@/lib/usecases/ports';
import { openPostgresStore } from './postgres-store';
import { openSqliteStore } from './sqlite-store';

export interface StoreOptions {
  /** `file:` and a path (relative to the working directory), or `postgres://…`. */
  readonly url: string;
  /** Folder that has `prisma/`; the nearest one above the working directory otherwise. */
  readonly root?: string;
}

/**
 * Opens the store that a URL names, migrated to this build. Throws `DatabaseInUse` where another process owns the
 * SQLite file, and where a database was used by a newer build.
 */
export function openStore({ url, root }: StoreOptions): Promise<Store> {
  const where = root === undefined ? {} : { root };
  if (/^postgres(ql)?:/.test(url)) return openPostgresStore({ url, ...where });
  if (url.startsWith('file:')) return openSqliteStore({ file: url.replace(/^file:(\/\/)?/, ''), ...where });
  throw new Error(`DATABASE_URL must begin with file: or postgres:, not ${url.split(':', 1)[0]}:`);
}
