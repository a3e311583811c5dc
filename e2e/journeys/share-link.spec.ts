import { TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/guarded';
import { RunPage } from '../pages/run-page';

test('a link shows one run to somebody who is not signed in, live, until it is revoked, and the open page is told', async ({
  guarded,
  page,
  browser,
}) => {
  const worker = await TestWorker.create(guarded.api, { runId: 'shared-run', input: { order: 'A-17' } });
  await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1', { id: 17 }));
  await worker.write(worker.done('plan#1/lookup#1', { found: 'the answer of lookup' }));

  await page.goto('/runs/shared-run');
  await guarded.signIn(page, 'Ada', 'operator');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Share and export' }).click();
  const link = page.getByRole('region', { name: 'Read-only link' });
  await link.getByRole('combobox', { name: 'How long the link lasts' }).selectOption({ label: 'for a day' });
  await link.getByRole('button', { name: 'Make a link' }).click();
  const address = await link.getByRole('textbox', { name: 'The link' }).inputValue();
  expect(address).toMatch(new RegExp(`^${guarded.url}/shared/[A-Za-z0-9_-]{32}$`));
  const secret = address.split('/').at(-1) ?? '';

  const theirs = await browser.newContext();
  const asked: { readonly url: string; readonly referer: string | undefined }[] = [];
  theirs.on('request', (request) =>
    asked.push({ url: request.url(), referer: request.headers()['referer'] }),
  );
  const viewer = await theirs.newPage();
  const answer = await viewer.goto(address);
  expect(answer?.headers()['referrer-policy']).toBe('no-referrer');
  const run = new RunPage(viewer);
  await expect(viewer.getByRole('region', { name: 'About this link' })).toContainText('Shared by Ada until');
  await expect(run.status).toHaveText('Running');
  await run.drawn();
  await run.step('lookup#1').click();
  await expect(run.inspector).toContainText('the answer of lookup');
  for (const order of ['Fork', 'Replay', 'Resume'] as const)
    await expect(run.disabled(order)).toHaveAttribute('title', 'A shared link only shows the run.');
  await expect(viewer.getByRole('link')).toHaveCount(0);
  await expect(viewer.getByRole('navigation')).toHaveCount(0);

  // It is live.
  await worker.write(worker.read('plan#1/lookup#2', { id: 18 }));
  await expect(run.step('lookup#2')).toBeVisible();

  // Nothing was asked for that is not behind the link, and the secret went nowhere with a request.
  const api = asked.filter(({ url }) => url.includes('/api/'));
  expect(api.length).toBeGreaterThan(3);
  expect(api.filter(({ url }) => !url.startsWith(`${guarded.url}/api/v1/shared/${secret}`))).toEqual([]);
  expect(asked.filter(({ referer }) => referer?.includes(secret))).toEqual([]);
  expect(guarded.output()).not.toContain(secret);
  // The rest of the console is as shut as before.
  await viewer.goto(`${guarded.url}/runs`);
  await expect(viewer).toHaveURL(/\/sign-in/);
  await viewer.goto(address);
  await expect(run.status).toHaveText('Running');

  await link.getByRole('button', { name: 'Revoke this link' }).click();
  await expect(link.getByRole('list', { name: 'Links that are open' })).toHaveCount(0);
  const revoked = viewer.getByRole('alert').filter({ hasText: 'This link was revoked.' });
  await expect(revoked).toBeVisible();
  await expect(run.status).toHaveCount(0);
  await viewer.reload();
  await expect(revoked).toBeVisible();
  await expect(viewer.getByText('lookup')).toHaveCount(0);
  await theirs.close();

  await page.goto('/audit');
  await expect(
    page
      .getByRole('table')
      .getByText(/revoked/i)
      .first(),
  ).toBeVisible();
  await expect(page.getByRole('table').getByText('Ada').first()).toBeVisible();
});
