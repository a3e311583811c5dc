import { readFileSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from '@playwright/test';
import { expect, test } from '../fixtures/desk';
import { goOver } from '../pages/confined';
import { RunPage } from '../pages/run-page';

/** A page of a browser that reaches nothing: whatever is asked for is refused, and told. */
async function withoutNetwork(browser: Browser, colorScheme: 'dark' | 'light' = 'dark') {
  const context = await browser.newContext({ colorScheme, offline: true });
  const asked: string[] = [];
  const said: string[] = [];
  await context.route(/^(https?|wss?):/, (route) => route.abort());
  context.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url());
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) said.push(message.text());
  });
  page.on('pageerror', (error) => said.push(error.message));
  return { page, context, asked, said };
}

/** The web page of the run, as the dialog gives it to whoever asks. */
async function downloaded(page: Page, path: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Share and export' }).click();
  await expect(page).toHaveURL(/[?&]open=export/);
  const row = page.getByRole('region', { name: 'Web page' });
  await expect(row.getByRole('heading')).toContainText(/\d MiB/);
  const coming = page.waitForEvent('download');
  await row.getByRole('button', { name: 'Download the web page' }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toBe('copied-page.rerail.html');
  await file.saveAs(path);
  const { size } = await stat(path);
  await expect(row.getByRole('status')).toContainText(
    `Saved as copied-page.rerail.html, ${(size / 2 ** 20).toFixed(1)} MiB`,
  );
  // What was said before it was made is what it is, but for what is written anew in it: when.
  await expect(row.getByRole('heading')).toContainText(`${(size / 2 ** 20).toFixed(1)} MiB`);
}

test('a run that was exported as a web page opens from the disk with the network blocked, and its cursor, graph and tabs work', async ({
  rail,
  desk,
  page,
  browser,
}, info) => {
  await desk.startKilled(rail, 'copied-page', 'ORD-2092');
  const here = new RunPage(page);
  await here.open('copied-page');
  await here.drawn();
  const path = info.outputPath('copied-page.rerail.html');
  await downloaded(page, path);
  const { headSeq } = await rail.run('copied-page');

  const { page: copy, context, asked, said } = await withoutNetwork(browser);
  await copy.goto(pathToFileURL(path).href);
  const run = new RunPage(copy);
  await expect(copy.getByRole('region', { name: 'About this copy' })).toContainText(
    /^.*A copy of this run, made/,
  );
  await expect(copy.getByRole('region', { name: 'About this copy' })).toContainText(new URL(rail.url).host);
  await expect(run.status).toHaveText('Interrupted');
  await run.drawn();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(headSeq));

  // By keys, by the mouse on the scrubber, on a step and on a state.
  for (let back = 1; back <= 3; back += 1) {
    await copy.keyboard.press('ArrowLeft');
    await expect(run.cursor).toHaveAttribute('aria-valuenow', String(headSeq - back));
  }
  await expect(copy).toHaveURL(new RegExp(`[?&]seq=${headSeq - 3}(&|$)`));
  await run.scrubTo(Math.ceil(headSeq / 2));
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(Math.ceil(headSeq / 2)));
  await copy.goBack();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(headSeq - 3));
  await run.step('create_refund#1').click();
  await expect(run.inspector.getByRole('heading', { level: 2 })).toContainText('create_refund');
  await run.state('issue_refund').click();
  await expect(run.state('issue_refund')).toHaveAccessibleName(/at the cursor/);

  // What the tabs show comes out of the file: values too.
  await copy.keyboard.press('End');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(headSeq));
  await expect((await run.inspect('State')).getByText('order').first()).toBeVisible();
  await expect(await run.inspect('Diff')).toContainText(/seq \d+ → \d+/);
  await expect((await run.inspect('Messages')).getByRole('listitem').first()).toBeVisible();
  await expect(await run.inspect('Effects')).toContainText('create_refund');
  await expect(copy).toHaveURL(/[?&]tab=effects/);

  // Nothing can be done from here, and each button says why.
  for (const order of ['Fork', 'Replay', 'Resume'] as const) {
    await expect(run.disabled(order)).toHaveAttribute('aria-disabled', 'true');
    await expect(run.disabled(order)).toHaveAttribute('title', /copy of the run/);
  }
  await expect(copy.getByRole('link')).toHaveCount(0);
  await copy.keyboard.press('?');
  await expect(copy.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await copy.keyboard.press('Escape');
  await copy.screenshot({ path: info.outputPath('dark.png') });
  await copy.keyboard.press('Shift+D');
  await expect(copy.locator('html')).toHaveAttribute('data-theme', 'light');
  await copy.screenshot({ path: info.outputPath('light.png') });
  // As it stands in the address, the same moment again.
  await copy.reload();
  await expect(run.status).toHaveText('Interrupted');
  await expect(await run.inspect('Effects')).toContainText('create_refund');

  expect(asked).toEqual([]);
  expect(said).toEqual([]);
  // Should its data ask for something all the same, the file's own policy refuses.
  const refused = await copy.evaluate(async () => {
    const blocked = new Promise<string>((resolve) =>
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective)),
    );
    await fetch('http://127.0.0.1:9/').catch(() => undefined);
    return blocked;
  });
  expect(refused).toBe('connect-src');
  await context.close();
});

test('every key, tab and button of a copy works or says that it does not, and nothing is asked for', async ({
  rail,
  desk,
  browser,
}, info) => {
  await desk.startKilled(rail, 'copied-over', 'ORD-2094');
  const path = info.outputPath('over.html');
  writeFileSync(path, await (await fetch(`${rail.url}/api/v1/runs/copied-over/export?as=html`)).text());
  const { page, context, asked, said } = await withoutNetwork(browser, 'light');
  await page.goto(pathToFileURL(path).href);
  const run = new RunPage(page);
  await run.drawn();
  const pressed = await goOver(page, async () => {
    expect(asked).toEqual([]);
    expect(said).toEqual([]);
  });
  expect(pressed.size).toBeGreaterThan(15);
  // Where a value was written, which the file knows as the console does.
  await page.keyboard.press('End');
  const state = await run.inspect('State');
  const written = state.getByRole('button', { name: /^Go to seq \d+, where .* was written$/ }).first();
  const seq = /seq (\d+)/.exec((await written.getAttribute('aria-label')) ?? '')?.[1];
  await written.click();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(seq));
  expect(asked).toEqual([]);
  await context.close();
});

test('a copy that was cut short says so, and shows nothing as if it were all', async ({
  rail,
  desk,
  browser,
}, info) => {
  await desk.startKilled(rail, 'cut-short', 'ORD-2093');
  const whole = await (await fetch(`${rail.url}/api/v1/runs/cut-short/export?as=html`)).text();
  const data = /id="rerail-copy">([^<]*)</.exec(whole)?.[1] ?? '';
  expect(data.length).toBeGreaterThan(1_000);
  const path = info.outputPath('cut.html');
  writeFileSync(path, whole.replace(data, data.slice(0, Math.floor(data.length / 8) * 4)));
  expect(readFileSync(path).byteLength).toBeLessThan(whole.length);
  const { page, context } = await withoutNetwork(browser);
  await page.goto(pathToFileURL(path).href);
  await expect(page.getByText('This copy of a run cannot be read.')).toBeVisible();
  await context.close();
});
