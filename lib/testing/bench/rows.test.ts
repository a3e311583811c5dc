import { expect, it } from 'vitest';
import { sqliteDatabase } from '@/lib/testing/databases';
import { startTestConsole } from '@/lib/testing/test-console';
import { overHttp } from './console-process';
import { figure } from './figures';
import { chosenBy, isNamed, rows } from './rows';
import { listFigures } from './rows-page';

const prefixes = (only: string) => chosenBy(only).map(({ prefix }) => prefix);

it('--only page measures what a person waits for on a page: list and graph too', () => {
  expect(prefixes('page')).toEqual(['list.100k-runs', 'page', 'graph']);
  for (const name of ['page.cursor-move.p95', 'list.100k-runs.filter', 'graph.1000-nodes.block'])
    expect([name, isNamed(figure(name, 1, 'ms'), 'page')]).toEqual([name, true]);
  expect(isNamed(figure('upload.events', 1, 'ms'), 'page')).toBe(false);
});

it('any other prefix measures what begins so', () => {
  expect(prefixes('')).toEqual(rows.map(({ prefix }) => prefix));
  expect(prefixes('page.cursor-move')).toEqual(['page']);
  expect(prefixes('conversation-200')).toEqual(['conversation-200', 'conversation-200-llm']);
  expect(prefixes('list.100k-runs.filter')).toEqual(['list.100k-runs']);
  expect(prefixes('pages')).toEqual([]);
});

it('what the bench measures of the list is measured, at a tenth of the size', async () => {
  const database = sqliteDatabase();
  const console_ = await startTestConsole({ databaseUrl: database.url });
  try {
    const figures = await listFigures({ ...overHttp(console_.url), dbFile: database.file }, 10_000);
    expect(figures.map(({ name }) => name)).toEqual(['list.100k-runs.filter', 'list.100k-runs.filter-p50']);
    for (const { name, value } of figures) expect(value, name).toBeGreaterThan(0);
    const runs = await fetch(`${console_.url}/api/v1/runs?limit=1`);
    expect(await runs.json()).toMatchObject({ total: 10_001 });
  } finally {
    await console_.close();
    await database.remove();
  }
}, 60_000);
