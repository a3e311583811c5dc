import { afterAll, beforeAll, describe } from 'vitest';
import { assertDefined } from '@/lib/core/shared/assert';
import { ApiClient } from './api-client';
import { describeOnPostgres } from './databases';
import { startTestConsole, type TestConsole, type TestConsoleOptions } from './test-console';

export interface ConsoleUnderTest {
  readonly console: () => TestConsole;
  readonly api: () => ApiClient;
}

/** One suite over HTTP, on an SQLite file and, where a server is named, on PostgreSQL. */
export function describeConsole(
  name: string,
  suite: (under: ConsoleUnderTest) => void,
  options: TestConsoleOptions = {},
): void {
  describe(`${name} (SQLite)`, () => suite(started(() => options)));
  describeOnPostgres(`${name} (PostgreSQL)`, (url) =>
    suite(started(() => ({ ...options, databaseUrl: url() }))),
  );
}

function started(options: () => TestConsoleOptions): ConsoleUnderTest {
  let running: TestConsole | undefined;
  beforeAll(async () => {
    running = await startTestConsole(options());
  });
  afterAll(async () => {
    await running?.close();
  });
  const get = () => assertDefined(running, 'a console runs while its tests do');
  return { console: get, api: () => new ApiClient(get().url) };
}
