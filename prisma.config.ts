import { fileURLToPath } from 'node:url';
import { defineConfig } from 'prisma/config';

// Prisma would download an engine binary for its migration commands; this program does the same work over the
// WebAssembly engine that npm installed. Resolved from this file, so that it works from any directory.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= fileURLToPath(
  new URL('./prisma/schema-engine.mjs', import.meta.url),
);

const provider = process.env['RERAIL_DB_PROVIDER'] === 'postgres' ? 'postgres' : 'sqlite';
const folder = fileURLToPath(new URL(`./prisma/${provider}`, import.meta.url));

export default defineConfig({
  schema: folder,
  migrations: { path: `${folder}/migrations` },
  datasource: {
    url:
      process.env['DATABASE_URL'] ??
      (provider === 'sqlite' ? 'file::memory:' : 'postgres://127.0.0.1:5432/postgres'),
  },
});
