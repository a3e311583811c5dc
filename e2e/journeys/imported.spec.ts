import { expect, test } from '../fixtures/desk';
import { historyOf } from '../fixtures/histories';
import { Rail } from '../fixtures/rail';
import { RunPage } from '../pages/run-page';

test('a copy of a run opens elsewhere with everything in it, and says why it cannot be resumed there', async ({
  rail,
  desk,
  page,
}) => {
  await desk.startKilled(rail, 'copied', 'ORD-2091');
  const other = await Rail.start();
  try {
    await other.upload(await rail.exported('copied'));
    await page.goto(`${other.url}/runs/copied`);
    const run = new RunPage(page);
    await expect(run.status).toHaveText('Interrupted');
    await expect(page.getByText('Mirror', { exact: true })).toBeVisible();
    await expect(run.step('create_refund#1')).toBeVisible();
    const resume = page.getByRole('button', { name: /^(Resume|Decide and resume)/ });
    await expect(resume).toHaveAttribute('aria-disabled', 'true');
    await expect(resume).toHaveAttribute('title', /copy|elsewhere|home/);
    await run.drawn();
  } finally {
    await other.stop();
  }
});

test('a LangGraph thread with forks of forks opens with its mined graph, its lineage and its question (S34)', async ({
  rail,
  page,
}) => {
  const { runs } = await rail.upload(historyOf('forks-of-forks.json', 'imported-forks'));
  // Of the file: one branch has ended, one has failed and one waits, and so did the main line that two of them left.
  expect(runs.map(({ status }) => status).sort()).toEqual(['completed', 'completed', 'failed', 'waiting']);
  const run = new RunPage(page);
  const origins: (string | undefined)[] = [];
  for (const { id, status } of runs) {
    await run.open(id);
    await expect(run.status).toHaveText(status, { ignoreCase: true });
    await expect(run.machine).toContainText('mined');
    await run.drawn();
    await expect(run.tree.getByRole('treeitem').first()).toBeVisible();
    origins.push((await page.getByText(/^(original|fork of .+)$/).textContent())?.split('fork of ')[1]);
  }
  const main = runs[origins.indexOf(undefined)]?.id;
  const ofMain = runs.filter((_, n) => origins[n] === main).map(({ id }) => id);
  expect(ofMain).toHaveLength(2);
  expect(origins.filter((origin) => origin !== undefined && ofMain.includes(origin))).toHaveLength(1);

  await run.open(runs.find(({ status }) => status === 'waiting')?.id ?? '');
  await page.getByText('A question stayed open.').click();
  await expect(page.getByText('third time?')).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Send|Approve)/ })).toHaveCount(0);
});

test('a night between two turns is folded, says how long and from when to when, and the bursts stay apart (S23)', async ({
  rail,
  page,
}) => {
  const history = historyOf('retry-and-second-turn.json', 'imported-overnight').replaceAll(
    /2026-03-04T05:00:00\.([456])00Z/g,
    '2026-03-04T21:30:00.$100Z',
  );
  const { runs } = await rail.upload(history);
  const run = new RunPage(page);
  await run.open(runs[0]?.id ?? '');
  await run.drawn();
  const night = run.tree.getByRole('button', { name: /^16 h 30 min idle/ });
  await expect(night).toHaveAttribute('aria-expanded', 'false');
  await night.click();
  await expect(
    run.tree.getByRole('button', { name: /^05:00:00[.\d]* → 21:30:00[.\d]* UTC$/ }),
  ).toHaveAttribute('aria-expanded', 'true');
  await page.getByRole('button', { name: 'Time, gaps folded' }).click();
  const gap = page.locator('.track .fold');
  await expect(gap).toHaveCount(1);
  await expect(gap).toContainText(/^16 h 30 min without an event, after seq \d+$/);
  // The seconds on either side have the room that the night would have taken.
  const [track, fold] = [await page.locator('.track').boundingBox(), await gap.boundingBox()];
  expect(fold?.width ?? 0).toBeLessThan((track?.width ?? 0) / 4);
});

test('a time that says no zone is read as UTC, and the report names it (S28)', async ({ page }) => {
  const history = historyOf('window.json', 'imported-zoneless').replaceAll(
    /("created_at": "[^"]+)Z"/g,
    '$1"',
  );
  await page.goto('/runs?open=upload');
  await page.getByLabel('Files to upload').setInputFiles({
    name: 'zoneless.json',
    mimeType: 'application/json',
    buffer: Buffer.from(history),
  });
  const item = page.getByRole('listitem', { name: 'zoneless.json', exact: true });
  await expect(item).toContainText('1 run read');
  await item.getByText(/what was skipped/).click();
  await expect(item).toContainText(/a time without a zone \("2026-03-04T05:00:01\.\d00"\), read as UTC/);
});
