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
    const resume = page.getByRole('button', { name: /^(Resume|Settle and resume)/ });
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
