const CI_SERVER = 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * The PostgreSQL server to test on: the one that `RERAIL_TEST_DATABASE_URL` names, under `CI` the local one. Elsewhere
 * there is none that tests may touch.
 */
export const postgresServer = (env = process.env) =>
  env.RERAIL_TEST_DATABASE_URL || (env.CI ? CI_SERVER : undefined);
