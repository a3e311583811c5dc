import { TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/guarded';
import { goOver } from '../pages/confined';
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
  // Wherever it is asked for first, and then in place of the run.
  await expect(revoked.first()).toBeVisible();
  await expect(run.status).toHaveCount(0);
  await expect(revoked).toHaveCount(1);
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

test('every key, tab and button of a shared run works or says that it does not, and asks for that run alone', async ({
  guarded,
  browser,
}) => {
  const worker = await TestWorker.create(guarded.api, { runId: 'shared-over', input: { order: 'A-18' } });
  const ask = 'refund#1/approve#1';
  await worker.write(
    worker.enter('plan'),
    worker.read('plan#1/lookup#1', { id: 17 }),
    worker.done('plan#1/lookup#1', { found: ['one', 'two'] }),
    {
      kind: 'variables.patched',
      patch: [{ op: 'add', path: '/order', value: worker.value({ id: 'A-18' }) }],
    },
    {
      kind: 'message.appended',
      role: 'user',
      message: worker.value({ role: 'user', content: 'Please refund.' }),
    },
    worker.leave('plan', 1, 'refund'),
    worker.enter('refund', 1, 'plan'),
    worker.external('refund#1/create_refund#1'),
    worker.done('refund#1/create_refund#1', { refund: 're_1' }),
    worker.start(ask, { step: 'human' }),
    worker.ask(ask),
    { kind: 'run.waiting', on: [{ stepKey: ask, for: 'question' }] },
  );
  const { body } = await guarded.api.post(`${worker.path}/shares`, { expiresIn: '24h' });
  const path = body.path as string;

  const theirs = await browser.newContext();
  const asked: string[] = [];
  const said: string[] = [];
  theirs.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
  theirs.on('weberror', ({ error }) => said.push(error().message));
  const viewer = await theirs.newPage();
  await viewer.goto(`${guarded.url}${path}`);
  const run = new RunPage(viewer);
  await run.drawn();
  const pressed = await goOver(viewer, async () => expect(said).toEqual([]));
  expect(pressed.size).toBeGreaterThan(15);
  const api = asked.filter((each) => each.includes('/api/'));
  expect(api.filter((each) => !each.startsWith(`GET ${guarded.url}/api/v1${path}`))).toEqual([]);
  await viewer.keyboard.press('2');
  const state = await run.inspect('State');
  const written = state.getByRole('button', { name: /^Go to seq \d+, where order was written$/ });
  const seq = /seq (\d+)/.exec((await written.getAttribute('aria-label')) ?? '')?.[1];
  await written.click();
  await expect(run.cursor).toHaveAttribute('aria-valuenow', String(seq));
  await expect(viewer.getByText('variables.patched').first()).toBeVisible();
  await theirs.close();
});
