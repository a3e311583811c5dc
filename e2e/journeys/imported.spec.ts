import { readFileSync } from 'node:fs';
import { expect, Rail, test } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

test('a copy of a run opens elsewhere with everything in it, and says why it cannot be resumed there', async ({
  rail,
  page,
}) => {
  const other = await Rail.start();
  try {
    await other.upload(await rail.exported('demo-killed'));
    await page.goto(`${other.url}/runs/demo-killed`);
    const run = new RunPage(page);
    await expect(run.status).toHaveText('Interrupted');
    await expect(page.getByText('Mirror', { exact: true })).toBeVisible();
    await expect(run.step('create_refund').first()).toBeVisible();
    const resume = page.getByRole('button', { name: /^(Resume|Settle and resume)/ });
    await expect(resume).toHaveAttribute('aria-disabled', 'true');
    await expect(resume).toHaveAttribute('title', /copy|elsewhere|home/);
    await run.drawn();
  } finally {
    await other.stop();
  }
});

test('a LangGraph thread with forks opens with its mined graph, its lineage and its question (S34)', async ({
  rail,
  page,
}) => {
  const file = new URL('../../lib/ingest/langgraph/fixtures/forks-of-forks.json', import.meta.url);
  const { runs } = await rail.upload(readFileSync(file, 'utf8'));
  expect(runs.length).toBeGreaterThan(1);
  const run = new RunPage(page);
  for (const { id, status } of runs) {
    await run.open(id);
    await expect(run.status).toHaveText(status, { ignoreCase: true });
    await expect(page.getByRole('region', { name: 'Machine' })).toContainText(/mined|imported/);
    await expect(page.getByRole('button', { name: /^State / }).first()).toBeVisible();
    await expect(run.tree.getByRole('treeitem').first()).toBeVisible();
  }
});
