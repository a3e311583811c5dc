import { fileURLToPath } from 'node:url';

/** The repository's folder, whatever the working directory is. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
/** A path inside the repository. */
export const inRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
/** Built files, stamps and reports: never in git, safe to delete. */
export const workDir = inRoot('.rerail');
