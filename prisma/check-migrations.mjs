// Checks that each provider's migrations give the schema of its models: 0 when they do, 1 with the difference.
// SQLite always, in memory. PostgreSQL on the server to test on (a missing one fails), in a shadow database that is dropped
// afterwards; where there is none it says that it was skipped.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { postgresServer } from '../lib/dev/postgres-server.mjs';
import { openEngine } from './engine.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const read = (path) => readFileSync(here(path), 'utf8');

function migrationsOf(provider) {
  const folder = `./${provider}/migrations`;
  return {
    tag: 'migrations',
    baseDir: here(folder),
    lockfile: { path: 'migration_lock.toml', content: read(`${folder}/migration_lock.toml`) },
    shadowDbInitScript: '',
    migrationDirectories: readdirSync(here(folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
      .map((path) => ({
        path,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok', value: read(`${folder}/${path}/migration.sql`) },
        },
      })),
  };
}

/** The statements that are missing from the migrations; empty where none is. */
async function difference(provider, url) {
  const files = [`./${provider}/schema.prisma`, './models/models.prisma'].map((path) => ({
    path: here(path),
    content: read(path),
  }));
  const engine = await openEngine(provider === 'sqlite' ? 'sqlite' : 'postgresql', {
    url,
    schemas: files.map(({ path, content }) => [path, content]),
  });
  const { exitCode, stdout } = await engine.diff({
    from: migrationsOf(provider),
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: true,
    shadowDatabaseUrl: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  return exitCode === 0 ? '' : (stdout ?? 'unknown difference');
}

let failed = 0;
for (const [provider, url] of [
  ['sqlite', undefined],
  ['postgres', postgresServer()],
]) {
  if (provider === 'postgres' && url === undefined) {
    console.log(
      'migrations: postgres skipped (set RERAIL_TEST_DATABASE_URL to a PostgreSQL server to check them)',
    );
    continue;
  }
  try {
    const missing = await difference(provider, url);
    if (missing === '') console.log(`migrations: ${provider} equal the models`);
    else {
      failed += 1;
      console.error(`migrations: ${provider} differ from the models; a new migration would be\n${missing}`);
    }
  } catch (error) {
    failed += 1;
    console.error(`migrations: ${provider} could not be checked: ${error.message}`);
  }
}
process.exit(failed === 0 ? 0 : 1);
