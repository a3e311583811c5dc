/** Codes that an error and its causes bear, as SQLite, PostgreSQL and the operating system name them. */
export function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let one = error, depth = 0; isObject(one) && depth < MOST_CAUSES; one = one['cause'], depth++)
    for (const code of [one['code'], one['originalCode']]) if (typeof code === 'string') codes.push(code);
  return codes;
}

const MOST_CAUSES = 8;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** `53100` is PostgreSQL's `disk_full`; the index of SQLite's log grows in a file of its own. */
const fullCodes: ReadonlySet<string> = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR_SHMSIZE',
  'ENOSPC',
  'EDQUOT',
  '53100',
]);

/** Whether a write failed because there was no room for it. */
export const isStorageFull = (error: unknown): boolean => codesOf(error).some((code) => fullCodes.has(code));
