import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/guarded';

const signOut = { name: /^Sign out / };

test('whoever is not signed in is asked to, and comes back to where the link led', async ({
  guarded,
  page,
}) => {
  const { runId } = await TestWorker.create(guarded.api, { runId: 'signed-in-to' });
  await page.goto(`/runs/${runId}?seq=1`);
  await expect(page).toHaveURL(/\/sign-in\?next=%2Fruns%2Fsigned-in-to%3Fseq%3D1$/);
  await expect(page.getByRole('heading', { name: 'Sign in to Rerail' })).toBeVisible();

  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Token').fill('not-a-token-of-this-console');
  await page.keyboard.press('Enter');
  await expect(page.getByText('This console does not know the token.')).toBeVisible();

  await guarded.signIn(page, 'Ada Lovelace', 'operator');
  await expect(page).toHaveURL(`${guarded.url}/runs/${runId}?seq=1`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(runId);
  await page.reload();
  await expect(page.getByRole('button', signOut)).toHaveAccessibleName('Sign out Ada Lovelace, operator');

  // What is live comes with the cookie too.
  const worker = await TestWorker.create(guarded.api, { runId: 'comes-live' });
  await page.goto('/runs');
  await expect(page.getByRole('link', { name: 'comes-live' })).toBeVisible();
  expect(await guarded.api.command(worker.runId, { mode: 'cancel', reason: 'by a program' })).toMatchObject({
    status: 202,
  });
  await expect(page.getByRole('row').filter({ hasText: 'comes-live' })).toContainText('cancel accepted');

  await page.getByRole('button', signOut).click();
  await expect(page).toHaveURL(/\/sign-in$/);
  await page.goBack();
  await expect(page).toHaveURL(/\/sign-in/);
  expect(guarded.output()).not.toContain('not-a-token-of-this-console');
});

test('a link followed from another site shows the page to whoever is signed in', async ({
  guarded,
  page,
}) => {
  await page.goto('/sign-in');
  await guarded.signIn(page, 'Bo', 'viewer');
  const chat = createServer((_, res) => {
    res.setHeader('content-type', 'text/html');
    res.end(`<a href="${guarded.url}/audit?q=bo">the audit</a>`);
  });
  await new Promise<void>((done) => chat.listen(0, '127.0.0.1', done));
  // Another site than 127.0.0.1, as browsers see it.
  await page.goto(`http://localhost:${(chat.address() as AddressInfo).port}/`);
  await page.getByRole('link', { name: 'the audit' }).click();
  await expect(page).toHaveURL(`${guarded.url}/audit?q=bo`);
  await expect(page.getByRole('heading', { name: 'Audit' })).toBeVisible();
  chat.close();
});

test('the sign-in leads nowhere but into this console', async ({ guarded, page }) => {
  for (const next of [
    '//evil.example/',
    '/\\evil.example',
    'https://evil.example/',
    '/\t/evil.example',
    'javascript:alert(1)',
  ]) {
    await page.context().clearCookies();
    await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
    await guarded.signIn(page, 'Cy', 'viewer');
    await expect(page).toHaveURL(`${guarded.url}/runs`);
  }
});

test('a viewer sees every action with the role that it needs, and the API says the same', async ({
  guarded,
  page,
}) => {
  const { runId } = await TestWorker.create(guarded.api, { runId: 'looked-at' });
  await page.goto(`/runs/${runId}`);
  await guarded.signIn(page, 'Vi', 'viewer');
  const fork = page.getByRole('button', { name: 'Fork' });
  await expect(fork).toHaveAttribute('aria-disabled', 'true');
  await expect(fork).toHaveAttribute('title', /needs the role operator; Vi is signed in as viewer/);
  const status = await page.evaluate(async (id) => {
    const answer = await fetch(`/api/v1/runs/${id}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ commandId: 'x', mode: 'cancel', reason: '' }),
    });
    return [answer.status, ((await answer.json()) as { needed: string }).needed];
  }, runId);
  expect(status).toEqual([403, 'operator']);
});

test('what was done is in the audit, found by its filters and by keys alone, and leads to the moment', async ({
  guarded,
  page,
}) => {
  const { runId } = await TestWorker.create(guarded.api, { runId: 'audited' });
  await TestWorker.create(guarded.api, { runId: 'audited-too' });
  await guarded.api.command('audited-too', { mode: 'pause', reason: 'something else' });
  await page.goto(`/runs/${runId}`);
  await guarded.signIn(page, 'Eve Admin', 'admin');
  const ordered = await page.evaluate(async (id) => {
    const answer = await fetch(`/api/v1/runs/${id}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ commandId: 'audited-cancel', mode: 'cancel', reason: 'seen enough' }),
    });
    return answer.status;
  }, runId);
  expect(ordered).toBe(202);

  await page.goto('/audit');
  const row = page.getByRole('row').filter({ hasText: 'seen enough' });
  await expect(row).toContainText('Eve Admin');
  await expect(row).toContainText('Cancel');
  await expect(page.getByRole('row').filter({ hasText: 'Sign-in' }).first()).toContainText('Eve Admin');
  await page.keyboard.press('/');
  await page.keyboard.type('seen enough');
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page).toHaveURL(/[?&]q=seen/);
  await page.reload();
  await expect(page.getByRole('row')).toHaveCount(2);
  await page.getByRole('combobox', { name: 'Action' }).selectOption('Pause');
  await expect(page.getByText('Nothing in the audit matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect(row).toBeVisible();

  await page.getByRole('combobox', { name: 'Action' }).selectOption('Cancel');
  await page.getByRole('heading', { name: 'Audit' }).click();
  await page.keyboard.press('j');
  await expect(page.getByRole('link', { name: runId, exact: true })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/runs/${runId}\\?seq=\\d+$`));
});

test('whose session ends meanwhile is told so, and loses nothing of the page', async ({ guarded, page }) => {
  await page.goto('/audit');
  await guarded.signIn(page, 'Di', 'operator');
  await expect(page.getByRole('heading', { name: 'Audit' })).toBeVisible();
  await page.context().clearCookies();
  await expect(page.getByText('You are signed out.')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Sign in' })).toHaveAttribute('href', '/sign-in?next=%2Faudit');
  await expect(page.getByRole('heading', { name: 'Audit' })).toBeVisible();
});
