import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from '@playwright/test';
import Database from 'better-sqlite3';
import { type BenchConsole, startConsole } from './console-process';
import { feedRun } from './feed';
import { type Figure, figure, percentile, timed } from './figures';
import {
  cursorMoves,
  firstLoadKb,
  firstRowsMs,
  firstViewMs,
  graphBlockMs,
  heapAfterScrubbing,
  scrollLongestTaskMs,
} from './page-measures';
import { EVENTS_A_VISIT, STEPS_A_VISIT } from './synthetic-run';
import { feedWide, wideMachine } from './wide-machine';
import { seededRandom } from './workload';

/* Rows that need a browser: the production build in a cold Chromium. */

/** Events of a run with about so many steps. */
const eventsOf = (steps: number) => Math.ceil((steps / STEPS_A_VISIT) * EVENTS_A_VISIT);

async function withPages<Answer>(
  folder: string,
  work: (console: BenchConsole, browser: Browser) => Promise<Answer>,
): Promise<Answer> {
  const executablePath = process.env['RERAIL_CHROMIUM'];
  if (executablePath === undefined) throw new Error('RERAIL_CHROMIUM names no Chromium');
  const console = await startConsole(folder, { pages: true });
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
  try {
    return await work(console, browser);
  } finally {
    await browser.close();
    await console.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface PageSizes {
  readonly steps: number;
  readonly events: number;
  readonly openings: number;
  readonly moves: number;
}
const WHOLE: PageSizes = { steps: 2_500, events: 100_000, openings: 5, moves: 120 };

/** The figures of a console that runs already; the names tell the sizes of the whole bench. */
export async function pageFigures(
  console: Pick<BenchConsole, 'url' | 'send'>,
  browser: Browser,
  sizes: PageSizes,
): Promise<readonly Figure[]> {
  await feedRun(console, 'bench-steps', eventsOf(sizes.steps));
  await feedRun(console, 'bench-events', sizes.events);
  const steps = `${console.url}/runs/bench-steps`;
  const events = `${console.url}/runs/bench-events`;
  const middle = `${events}?seq=${Math.floor(sizes.events / 2)}`;
  // The first page that a console shows is compiled and read from disk.
  await firstRowsMs(browser, steps, 1);
  const firstRows = await firstRowsMs(browser, steps, sizes.openings);
  const firstView = await firstViewMs(browser, events, sizes.openings);
  const firstViewInside = await firstViewMs(browser, middle, sizes.openings);
  const moves = await cursorMoves(browser, middle, sizes.moves);
  const scroll = await scrollLongestTaskMs(browser, events, 40);
  const heap = await heapAfterScrubbing(browser, events, sizes.moves);
  return [
    figure('page.first-rows.2500', firstRows, 'ms'),
    figure('page.first-view.100k', firstView, 'ms'),
    figure('page.first-view.100k-inside', firstViewInside, 'ms'),
    figure('page.cursor-move.p50', percentile(moves, 0.5), 'ms'),
    figure('page.cursor-move.p95', percentile(moves, 0.95), 'ms'),
    figure('page.scroll.longest-task', scroll, 'ms'),
    figure('page.heap.after-scrubbing', heap.after, 'MB', heap.before),
    figure('page.js.first-load', await firstLoadKb(steps), 'kB'),
  ];
}

export const pageRows = (folder: string): Promise<readonly Figure[]> =>
  withPages(join(folder, 'page'), (console, browser) => pageFigures(console, browser, WHOLE));

export const graphRows = (folder: string): Promise<readonly Figure[]> =>
  withPages(join(folder, 'graph'), async (console, browser) => {
    await feedWide(console, 'bench-wide', wideMachine(1_000, 3_000), 200);
    await feedWide(console, 'bench-dense', wideMachine(47, 1_400), 40);
    const page = (runId: string) => `${console.url}/runs/${runId}`;
    await graphBlockMs(browser, page('bench-dense'), 'folded');
    const block = (run: string, shown: 'folded' | 'all') => graphBlockMs(browser, page(run), shown);
    return [
      figure('graph.1000-nodes.block', await block('bench-wide', 'folded'), 'ms'),
      figure('graph.1000-nodes.all.block', await block('bench-wide', 'all'), 'ms'),
      figure('graph.47-nodes-1400-edges.block', await block('bench-dense', 'folded'), 'ms'),
    ];
  });

/** Prime to the number of statuses, so that every pair of them has runs. */
const AGENTS = 19;

/** Copies one recorded run to so many rows of the list: statuses, agents, tags and times differ. */
function copyRuns(dbFile: string, count: number): void {
  const db = new Database(dbFile);
  const columns = db
    .prepare<[], { name: string }>("select name from pragma_table_info('Run') where name <> 'key'")
    .all()
    .map(({ name }) => name);
  const template = db.prepare<[], Record<string, unknown>>('select * from "Run" limit 1').get();
  if (template === undefined) throw new Error('there is no run to copy');
  const insert = db.prepare(
    `insert into "Run" (${columns.map((name) => `"${name}"`).join(', ')}) values (${columns.map((name) => `@${name}`).join(', ')})`,
  );
  const statuses = ['completed', 'failed', 'interrupted', 'waiting', 'paused', 'cancelled'];
  db.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      const runId = `run_${String(n).padStart(7, '0')}`;
      const agent = `agent-${n % AGENTS}`;
      const tag = `team-${n % 50}`;
      insert.run({
        ...template,
        runId,
        root: runId,
        agent,
        status: statuses[n % statuses.length],
        tags: `\u001f${tag}\u001f`,
        search: `${runId}\n${agent}\n${tag}\n`,
        createdAt: 1_700_000_000_000 + n * 1_000,
        updatedAt: 1_700_000_000_000 + n * 1_000,
        lease: null,
        // Nobody judges a mirror that no worker holds: it keeps its status while the lists are asked for.
        home: 'mirror',
      });
    }
  })();
  db.close();
}

export async function listRows(folder: string): Promise<readonly Figure[]> {
  const own = join(folder, 'list');
  const console = await startConsole(own);
  try {
    return await listFigures(console, 100_000);
  } finally {
    await console.stop();
    rmSync(own, { recursive: true, force: true });
  }
}

/** The figures of a console that runs already, with so many runs; the names tell the size of the whole bench. */
export async function listFigures(
  console: Pick<BenchConsole, 'dbFile' | 'getJson' | 'send'>,
  count: number,
): Promise<readonly Figure[]> {
  await feedRun(console, 'bench-row', 30);
  copyRuns(console.dbFile, count);
  const random = seededRandom(3);
  const pick = (of: number) => Math.floor(random() * of);
  const filters = [
    () => `status=failed&agent=agent-${pick(AGENTS)}`,
    () => `status=interrupted&status=waiting&tag=team-${pick(50)}`,
    () => `q=${String(pick(count)).padStart(7, '0')}`,
    () => `agent=agent-${pick(AGENTS)}&sort=created&order=asc`,
  ];
  const ask = async (n: number) => {
    const filter = filters[n % filters.length]?.();
    const { total } = await console.getJson<{ readonly total: number }>(`/runs?${filter}&limit=50`);
    if (total === 0) throw new Error(`No run matches ${filter}: that would measure nothing`);
  };
  await timed(8, ask);
  const samples = await timed(80, ask);
  return [
    figure('list.100k-runs.filter', percentile(samples, 0.95), 'ms'),
    figure('list.100k-runs.filter-p50', percentile(samples, 0.5), 'ms'),
  ];
}
