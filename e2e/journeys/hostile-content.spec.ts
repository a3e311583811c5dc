import type { Page } from '@playwright/test';
import { ApiClient } from '@/lib/testing/api-client';
import { EVIL, hostileName, makeHostileRun, RAN } from '@/lib/testing/hostile-run';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';
import { expect, test } from '../fixtures/guarded';
import { historyOf } from '../fixtures/histories';
import { RunPage } from '../pages/run-page';

/** Where what a page's policy forbids is told; it goes out of the page by this name. */
const TELL = 'rerailTellViolation';

/** What must not happen on any page: a policy broken, a text run, a request to elsewhere. Names what did. */
async function watch(page: Page, own: string): Promise<() => Promise<readonly string[]>> {
  const found: string[] = [];
  await page.exposeFunction(TELL, (what: string) => found.push(what));
  await page.addInitScript((tell) => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
      const told = `${location.pathname}: ${effectiveDirective} ${blockedURI} at ${sourceFile}:${lineNumber} ${sample}`;
      (window as unknown as Record<string, (what: string) => void>)[tell]?.(told);
    });
  }, TELL);
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.origin !== own) found.push(`request to ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    found.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return async () => {
    if (await page.evaluate((name) => name in window, RAN)) found.push(`a text ran on ${page.url()}`);
    return found;
  };
}

/** Every page as it is served, and what it loads late: graph, dialogs, toasts. */
test('every page keeps its own content policy, in the production build', async ({ guarded, page }) => {
  const broken = await watch(page, guarded.url);
  const answer = await page.goto('/sign-in');
  const policy = answer?.headers()['content-security-policy'] ?? '';
  expect(policy).toMatch(/script-src 'nonce-[A-Za-z0-9+/=]{20,}' 'strict-dynamic'/);
  expect(policy.match(/script-src[^;]*/)?.[0]).not.toMatch(/unsafe/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(answer?.headers()).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
  });
  await guarded.signIn(page, 'Ada', 'admin');
  const other = await page.request.get('/runs');
  expect(other.headers()['content-security-policy']).not.toBe(policy);

  const history = historyOf('with-graph.json', 'hostile-beside');
  const uploaded = await guarded.api.post('/api/v1/traces', Buffer.from(history));
  const runId = uploaded.body.runs[0].id as string;
  for (const path of [
    '/runs',
    '/audit',
    '/connect',
    '/api-reference',
    '/nowhere',
    `/runs/${runId}/plan?mode=fork`,
  ]) {
    await page.goto(path);
    await expect(page.getByRole('heading').first()).toBeVisible();
    await page.waitForLoadState('networkidle');
    expect(await broken(), path).toEqual([]);
  }
  const run = new RunPage(page);
  await run.open(runId);
  await run.drawn();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+d');
  expect(await broken(), 'the run page').toEqual([]);
});

test('whatever a trace says is text: nothing of it runs, nothing leaves', async ({ guarded, page }) => {
  const broken = await watch(page, guarded.url);
  const runId = await makeHostileRun(guarded.api);
  await guarded.api.command(runId, { mode: 'cancel', reason: hostileName('reason') });
  // The same as a file from elsewhere, under an id of its own.
  const elsewhere = await startTestConsole({ store: memoryStore() });
  let copy = runId;
  try {
    copy = await makeHostileRun(new ApiClient(elsewhere.url), `copy of ${runId}`.slice(0, 128));
    const file = await fetch(`${elsewhere.url}/api/v1/runs/${encodeURIComponent(copy)}/export`);
    const uploaded = await guarded.api.post('/api/v1/traces', await file.text());
    expect([200, 201], JSON.stringify(uploaded.body)).toContain(uploaded.status);
  } finally {
    await elsewhere.close();
  }

  await page.goto('/runs');
  await guarded.signIn(page, 'Ada <img src=x onerror=alert(1)>', 'admin');
  await expect(page.getByText(`//${EVIL}/`, { exact: false }).first()).toBeVisible();
  expect(await broken(), 'the list').toEqual([]);

  for (const id of [runId, copy]) {
    await page.goto(`/runs/${encodeURIComponent(id)}`);
    const run = new RunPage(page);
    await run.drawn();
    const rows = run.tree.getByRole('treeitem');
    // A press may fold others away.
    for (let n = 0; n < (await rows.count()); n += 1) {
      await rows.nth(n).click();
      for (const tab of ['1', '2', '3', '4', '5']) {
        await page.keyboard.press(tab);
        await expect(run.inspector.getByRole('tab', { selected: true })).toBeVisible();
      }
      expect(await broken(), 'the run page').toEqual([]);
    }
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('evil');
    await page.keyboard.press('Escape');
    await page.goto(`/runs/${encodeURIComponent(id)}/plan?mode=fork`);
    await expect(page.getByRole('heading').first()).toBeVisible();
    await page.waitForLoadState('networkidle');
    expect(await broken(), 'the plan').toEqual([]);
  }
  await page.goto('/audit');
  await expect(page.getByRole('row').nth(1)).toBeVisible();
  expect(await broken(), 'the audit').toEqual([]);
});

test('a payload is never a page, whatever it holds', async ({ guarded, page }) => {
  const broken = await watch(page, guarded.url);
  const runId = await makeHostileRun(new ApiClient(guarded.url, guarded.api.always)).catch(() =>
    hostileName('run'),
  );
  const steps = await guarded.api.get(`/api/v1/runs/${encodeURIComponent(runId)}/steps`);
  const digests = JSON.stringify(steps.body).match(/[0-9a-f]{64}/g) ?? [];
  expect(digests.length).toBeGreaterThan(0);
  await page.goto('/sign-in');
  await guarded.signIn(page, 'Ada', 'viewer');
  for (const digest of digests.slice(0, 6)) {
    const answer = await page.request.get(`/api/v1/payloads/${digest}?codec=json`);
    expect(answer.headers()).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect(answer.headers()['content-type']).not.toMatch(/html|xml|svg|script/);
    await page.goto(`/api/v1/payloads/${digest}?codec=json`).catch(() => undefined);
    expect(await broken()).toEqual([]);
  }
});
