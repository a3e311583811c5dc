import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '../fixtures/desk';
import { type InspectorTab, RunPage } from '../pages/run-page';

test('what each tab shows is copied as JSON and as the call that gives it, and the native file is the run', async ({
  rail,
  desk,
  page,
  context,
}, info) => {
  const RUN = 'copied-out';
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await desk.start(RUN, 'ORD-2095');
  await rail.untilStatus(RUN, 'completed');
  const seq =
    (await rail.events(RUN)).find(({ kind, name }) => kind === 'step.started' && name === 'send_mail')?.seq ??
    0;
  const run = new RunPage(page);
  await run.open(RUN, seq);
  await run.drawn();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  const row = page.getByRole('region', { name: 'Copy', exact: true });
  const shown: readonly (readonly [InspectorTab, RegExp, string])[] = [
    ['Step', /^Step .*send_mail#1$/, '/steps/'],
    ['State', new RegExp(`^State at seq ${seq}$`), `/state?at=${seq}`],
    ['Diff', new RegExp(`^Diff from seq ${seq - 1} to ${seq}$`), `/diff?from=${seq - 1}&to=${seq}`],
    ['Messages', new RegExp(`^Messages at seq ${seq}$`), `/messages?at=${seq}`],
    ['Effects', new RegExp(`^Effects at seq ${seq}$`), `/effects?at=${seq}`],
  ];
  for (const [tab, what, path] of shown) {
    await run.inspect(tab);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Share and export' }).click();
    const item = row.getByRole('listitem').nth(1);
    await expect(item).toContainText(new RegExp(what.source.replaceAll(/[\^$]/g, '')));
    await item.getByRole('button', { name: /^Copy as cURL/ }).click();
    await expect.poll(clipboard).toMatch(/^curl /);
    const line = await clipboard();
    expect(line).toContain(path);
    await item.getByRole('button', { name: /^Copy as JSON/ }).click();
    await expect.poll(clipboard).toMatch(/^\{/);
    // The line is the call: a shell that runs it gets what was copied.
    const called: unknown = JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' }));
    expect(called).toEqual(JSON.parse(await clipboard()));
    await page.keyboard.press('Escape');
    await expect(row).toHaveCount(0);
  }

  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Share and export' }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the native file' }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toBe(`${RUN}.rerail.ndjson`);
  const path = info.outputPath(file.suggestedFilename());
  await file.saveAs(path);
  const whole = await (await fetch(`${rail.url}/api/v1/runs/${RUN}/export?as=native`)).text();
  expect(readFileSync(path, 'utf8')).toBe(whole);
});
