import { gunzipSync, gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, CDPSession, Page } from '@playwright/test';
import { percentile } from './figures';

/* What a page costs a browser. Each opening is cold: a context of its own has no cache and no storage. */

const VIEW = { viewport: { width: 1280, height: 720 } } as const;

async function cold<Answer>(browser: Browser, work: (page: Page) => Promise<Answer>): Promise<Answer> {
  const context: BrowserContext = await browser.newContext(VIEW);
  try {
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

const drawn = {
  rows: '[role="treeitem"]',
  // Tree, graph, inspector and scrubber: the whole instrument.
  view: ['[role="treeitem"]', '.state-node', '[role="tabpanel"] h2', '.track .ev'],
} as const;

/** Milliseconds from the start of the navigation to the frame that shows all of `wanted`. */
function untilShown(page: Page, url: string, wanted: readonly string[]): Promise<number> {
  return page
    .addInitScript((selectors) => {
      const look = () => {
        if (selectors.every((each) => document.querySelector(each) !== null))
          requestAnimationFrame(() =>
            setTimeout(() => Object.assign(window, { shownAt: performance.now() })),
          );
        else requestAnimationFrame(look);
      };
      look();
    }, wanted)
    .then(() => page.goto(url, { waitUntil: 'commit' }))
    .then(() => page.waitForFunction(() => 'shownAt' in window, undefined, { timeout: 60_000 }))
    .then(() => page.evaluate(() => (window as unknown as { shownAt: number }).shownAt));
}

/** p50 of so many cold openings. */
async function openings(browser: Browser, url: string, wanted: readonly string[], times: number) {
  const samples: number[] = [];
  for (let n = 0; n < times; n += 1)
    samples.push(await cold(browser, (page) => untilShown(page, url, wanted)));
  return percentile(samples, 0.5);
}

export const firstRowsMs = (browser: Browser, url: string, times = 5) =>
  openings(browser, url, [drawn.rows], times);
export const firstViewMs = (browser: Browser, url: string, times = 5) =>
  openings(browser, url, drawn.view, times);

async function openedWhole(page: Page, url: string): Promise<CDPSession> {
  await page.goto(url, { waitUntil: 'commit' });
  for (const each of drawn.view) await page.locator(each).first().waitFor({ timeout: 60_000 });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  return cdp;
}

/** Two frames later: what a key or wheel turn brought is drawn. */
const twoFrames = (page: Page) =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

async function scriptMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN) * 1_000;
}

/** Milliseconds of scripting for each of so many moves of the cursor, from the middle of the run, both ways. */
export const cursorMoves = (browser: Browser, url: string, moves: number): Promise<readonly number[]> =>
  cold(browser, async (page) => {
    const cdp = await openedWhole(page, url);
    const samples: number[] = [];
    for (let n = 0; n < moves; n += 1) {
      const before = await scriptMs(cdp);
      await page.keyboard.press(n % 40 < 20 ? 'ArrowLeft' : 'ArrowRight');
      await twoFrames(page);
      samples.push((await scriptMs(cdp)) - before);
    }
    return samples;
  });

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of the page's main thread while `work` is done, in ms. */
async function longestTask(browser: Browser, page: Page, work: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, {
    categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'],
  });
  await work();
  const text = (await browser.stopTracing()).toString();
  const { traceEvents } = JSON.parse(text) as { readonly traceEvents: readonly TraceEvent[] };
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    (each) => each.ph === 'X' && /RunTask$/.test(each.name) && main.has(`${each.pid} ${each.tid}`),
  );
  if (tasks.length === 0) throw new Error('the trace has no task of the main thread');
  return Math.max(...tasks.map(({ dur = 0 }) => dur / 1_000));
}

/** The longest task while the tree is scrolled by so many turns of the wheel. */
export const scrollLongestTaskMs = (browser: Browser, url: string, turns: number): Promise<number> =>
  cold(browser, async (page) => {
    await openedWhole(page, url);
    const box = await page.locator('.tree-pane').boundingBox();
    if (box === null) throw new Error('the tree is not shown');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    return longestTask(browser, page, async () => {
      for (let n = 0; n < turns; n += 1) {
        await page.mouse.wheel(0, n < turns / 2 ? -600 : 600);
        await twoFrames(page);
      }
    });
  });

/** Used heap in MB before and after the cursor was taken to so many places all over the run. */
export const heapAfterScrubbing = (
  browser: Browser,
  url: string,
  places: number,
): Promise<{ readonly before: number; readonly after: number }> =>
  cold(browser, async (page) => {
    const cdp = await openedWhole(page, url);
    const used = async () => {
      await cdp.send('HeapProfiler.collectGarbage');
      return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1_000_000;
    };
    const before = await used();
    const track = page.getByRole('slider', { name: 'Cursor' });
    const box = await track.boundingBox();
    if (box === null) throw new Error('the scrubber is not shown');
    for (let n = 0; n < places; n += 1) {
      // By a stride that visits every part before it comes near a place again.
      const part = ((n * 37) % 100) / 100 + 0.005;
      await page.mouse.click(box.x + box.width * part, box.y + box.height / 2);
      await twoFrames(page);
    }
    await page.waitForLoadState('networkidle');
    return { before, after: await used() };
  });

/** kB, gzipped, of the scripts that the page's document loads before anything is asked for. */
export async function firstLoadKb(url: string): Promise<number> {
  const html = await (await fetch(url)).text();
  // What is for browsers without modules is loaded by none that the console runs in.
  const tags = [...html.matchAll(/<script[^>]+src="([^"]+)"[^>]*>/g)].filter(
    ([tag]) => !/\bnomodule\b/i.test(tag),
  );
  const sources = new Set(tags.map(([, src = '']) => src));
  if (sources.size === 0) throw new Error(`${url} loads no script`);
  let bytes = 0;
  for (const src of sources) {
    const body = Buffer.from(await (await fetch(new URL(src, url))).arrayBuffer());
    // A server that compresses at a lower level would flatter nobody.
    bytes += gzipSync(body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body).length;
  }
  return bytes / 1_000;
}

/**
 * The longest task of the main thread from the graph's answer until it is drawn, and while it is zoomed and the cursor
 * moves: as it opens, folded, or with all of it asked for.
 */
export const graphBlockMs = (browser: Browser, url: string, shown: 'folded' | 'all'): Promise<number> =>
  cold(browser, async (page) => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    // All else is loaded and at rest before the graph comes, so that only its own work is seen.
    await page.route(/\/api\/v1\/runs\/[^/]+\/graph/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator(drawn.rows).first().waitFor();
    await page.getByRole('button', { name: 'Zoom in' }).waitFor();
    return longestTask(browser, page, async () => {
      release();
      await page.locator('.state-node').first().waitFor({ timeout: 60_000 });
      await twoFrames(page);
      if (shown === 'all') {
        await page.getByRole('button', { name: 'Show all' }).click();
        await page.getByText(/^All [\d,]+ states/).waitFor();
        await twoFrames(page);
      }
      for (const name of ['Zoom in', 'Zoom out', 'Fit the graph']) {
        await page.getByRole('button', { name }).click();
        await twoFrames(page);
      }
      for (let n = 0; n < 10; n += 1) {
        await page.keyboard.press('ArrowLeft');
        await twoFrames(page);
      }
    });
  });
