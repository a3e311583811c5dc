import { expect, it } from 'vitest';
import { inRoot } from './paths.mjs';
import { postgresServer } from './postgres-server.mjs';
import { runCommand } from './run-command.mjs';

const NAMED = 'postgres://tester@db.example:5433/postgres';
const LOCAL = 'postgres://postgres@127.0.0.1:5432/postgres';

it.each([
  ['the named one', { RERAIL_TEST_DATABASE_URL: NAMED }, NAMED],
  ['the named one under CI', { RERAIL_TEST_DATABASE_URL: NAMED, CI: 'true' }, NAMED],
  ['the local one under CI', { CI: 'true' }, LOCAL],
  ['the local one under CI where the name is empty', { RERAIL_TEST_DATABASE_URL: '', CI: '1' }, LOCAL],
  ['none elsewhere', {}, undefined],
  ['none where both are empty', { RERAIL_TEST_DATABASE_URL: '', CI: '' }, undefined],
])('the server to test on is %s', (_, env, server) => {
  expect(postgresServer(env)).toBe(server);
});

const migrations = (env) => runCommand(process.execPath, [inRoot('prisma/check-migrations.mjs')], { env });

it('the check of the migrations says that it skips PostgreSQL where no server is named, and fails where the named one is missing', async () => {
  const [unnamed, missing] = await Promise.all([
    migrations({ RERAIL_TEST_DATABASE_URL: '', CI: '' }),
    migrations({ RERAIL_TEST_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', CI: '' }),
  ]);
  expect(unnamed.code).toBe(0);
  expect(unnamed.output).toMatch(/^migrations: postgres skipped \(set RERAIL_TEST_DATABASE_URL /m);
  expect(missing.code).toBe(1);
  expect(missing.output).toMatch(/^migrations: postgres could not be checked: .*127\.0\.0\.1:1/m);
});
