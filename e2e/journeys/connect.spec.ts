import { readFileSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '../fixtures/desk';
import { historyOf } from '../fixtures/histories';

test('each way to connect is shown with the console’s own address, is copied as it stands, and stays in the address', async ({
  rail,
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${rail.url}/connect`);
  await expect(page.getByRole('heading', { name: 'Connect', level: 1 })).toBeVisible();
  for (const [way, file] of [
    ['SDK', 'worker.ts'],
    ['OpenTelemetry', 'otlp.sh'],
    ['Plain HTTP', 'agent.py'],
    ['Upload', 'upload.sh'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Ways to connect' }).getByRole('link', { name: way }).click();
    await expect(page.getByRole('region', { name: file, exact: true })).toContainText(rail.url);
    await page.getByRole('button', { name: `Copy ${file}`, exact: true }).click();
    await expect(page.getByText(`Copied: ${file}`)).toBeAttached();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const filed = readFileSync(new URL(`../../docs/connect/${file}`, import.meta.url), 'utf8');
    expect(copied).toBe(filed.trimEnd().replaceAll('http://127.0.0.1:3000', rail.url));
  }
  await expect(page).toHaveURL(/via=upload/);
  await page.reload();
  await expect(page.getByRole('region', { name: 'upload.sh' })).toBeVisible();
});

test('the page tells that a run has arrived, and leads to it', async ({ rail, page, request }) => {
  await page.goto(`${rail.url}/connect?via=upload`);
  const arrivals = page.getByRole('complementary', { name: 'Arrivals' });
  await expect(arrivals).toContainText(/Waiting for (?:the first|a new) run/);
  const thread = 'connect-arrives';
  const text = historyOf('parallel.json', thread);
  const sent = await request.post(`${rail.url}/api/v1/traces`, {
    headers: { 'content-type': 'application/json' },
    data: Buffer.from(text),
  });
  const [{ id }] = ((await sent.json()) as { runs: [{ id: string }] }).runs;
  await expect(arrivals).toContainText(`Run ${id} arrived`);
  await arrivals.getByRole('link', { name: id }).first().click();
  await expect(page).toHaveURL(new RegExp(`/runs/${encodeURIComponent(id)}`));
});

test('neither page breaks the content policy or says an error', async ({ rail, page }) => {
  const said: string[] = [];
  page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
  for (const path of ['/connect?via=otlp', '/api-reference?op=listRuns']) {
    await page.goto(`${rail.url}${path}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await page.waitForLoadState('networkidle');
  }
  expect(said).toEqual([]);
});

test('the API page finds an operation and links to it', async ({ rail, page }) => {
  await page.goto(`${rail.url}/api-reference`);
  await expect(page.getByRole('heading', { name: 'Rerail API' })).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: 'Search the API' })).toBeFocused();
  await page.keyboard.type('giveCommand');
  const list = page.getByRole('navigation', { name: 'Operations' });
  await expect(list.getByRole('link')).toHaveCount(1);
  await expect(page.getByRole('status', { name: 'Operations shown' })).toHaveText(/^1 of \d+ operations$/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Give an order' })).toBeVisible();
  await expect(page).toHaveURL(/op=giveCommand/);
  await expect(page.getByRole('article')).toContainText('planDigest');
  await expect(page.getByRole('article')).toContainText('stale-plan');
  await page.getByRole('link', { name: 'stale-plan' }).click();
  await expect(page.getByRole('heading', { name: 'StalePlanProblem' })).toBeVisible();
});

for (const colorScheme of ['dark', 'light'] as const) {
  test(`axe finds nothing on the pages for programs, ${colorScheme}`, async ({ rail, page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const path of [
      '/connect',
      '/connect?via=otlp',
      '/api-reference',
      '/api-reference?op=appendEvents',
      '/api-reference?schema=Run',
    ]) {
      await page.goto(`${rail.url}${path}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
      expect(violations.map(({ id, nodes }) => `${path} ${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
  });
}
