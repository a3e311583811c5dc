import { expect, test } from '../fixtures/desk';
import { historyOf } from '../fixtures/histories';
import { RunPage } from '../pages/run-page';
import { RunsPage } from '../pages/runs-page';

const file = (name: string, thread: string) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(historyOf(name, thread)),
});

test('files are chosen, several at once, each with a report, and the same again brings nothing new', async ({
  page,
}) => {
  await page.goto('/runs');
  await page.getByRole('button', { name: 'Upload a trace' }).first().click();
  await expect(page).toHaveURL(/open=upload/);
  const dialog = page.getByRole('dialog', { name: 'Upload traces' });
  await expect(dialog).toContainText('LangGraph');
  await expect(dialog).toContainText(/At most [\d.]+ MiB a file/);
  const files = dialog.getByRole('list', { name: 'Files' });
  const item = (name: string) => files.getByRole('listitem', { name, exact: true });
  await page
    .getByLabel('Files to upload')
    .setInputFiles([
      file('broken-parts.json', 'uploaded-broken'),
      file('parallel.json', 'uploaded-parallel'),
    ]);
  await expect(item('parallel.json')).toContainText('1 run read');
  await expect(item('broken-parts.json')).toContainText(/note/);
  await expect(item('broken-parts.json').getByText(/what was skipped/)).toBeVisible();
  await expect(page.getByRole('status', { name: 'Uploads' })).toContainText('parallel.json');

  await page.getByLabel('Files to upload').setInputFiles(file('parallel.json', 'uploaded-parallel'));
  await expect(item('parallel.json')).toHaveCount(2);
  await expect(item('parallel.json').last()).toContainText('Nothing new: 1 run known already');
  const link = item('parallel.json').last().getByRole('link');
  const runId = (await link.textContent()) ?? '';
  await link.click();
  await expect(page).toHaveURL(new RegExp(`/runs/${encodeURIComponent(runId)}$`));
  await page.goBack();
});

test('a file that is no trace, and one that was cut off, are refused with why, and what is known is named', async ({
  page,
}) => {
  await page.goto('/runs?open=upload');
  const files = page.getByRole('list', { name: 'Files' });
  const item = (name: string) => files.getByRole('listitem', { name, exact: true });
  const whole = file('with-graph.json', 'uploaded-whole').buffer;
  await page.getByLabel('Files to upload').setInputFiles([
    {
      name: '<img src=x onerror=alert(1)>.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"no":"trace"}'),
    },
    { name: 'cut.json', mimeType: 'application/json', buffer: whole.subarray(0, whole.length / 2) },
    { name: 'empty.json', mimeType: 'application/json', buffer: Buffer.alloc(0) },
    { name: 'whole.json', mimeType: 'application/json', buffer: whole },
  ]);
  await expect(item('whole.json')).toContainText(/run[s]? read/);
  const wrong = item('<img src=x onerror=alert(1)>.json');
  await expect(wrong).toContainText('Known are:');
  await expect(wrong).toContainText('LangGraph');
  await expect(item('cut.json')).toContainText('nothing of it was stored');
  await expect(item('cut.json').getByText(/not JSON/i)).toHaveCount(1);
  await expect(item('cut.json')).not.toContainText('$');
  await expect(item('empty.json')).toContainText('The body is empty');
  await item('cut.json').getByRole('button', { name: 'Send cut.json again' }).click();
  await expect(item('cut.json')).toContainText('nothing of it was stored');
  await page.getByRole('button', { name: 'Clear the list' }).click();
  await expect(files).toHaveCount(0);
});

test('a file is dropped on a run’s page, goes on while its reader moves about, and can be stopped', async ({
  rail,
  desk,
  page,
}) => {
  await desk.start('dropped-on', 'ORD-2361');
  await rail.untilStatus('dropped-on', 'completed');
  const run = new RunPage(page);
  await run.open('dropped-on');
  await run.drawn();
  const text = historyOf('window.json', 'uploaded-dropped');
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route('**/api/v1/traces', async (route) => {
    await held;
    await route.continue();
  });
  const drop = (name: string) =>
    page.evaluate(
      ([file, content]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([content ?? ''], file ?? '', { type: 'application/json' }));
        for (const kind of ['dragenter', 'dragover', 'drop'])
          document.body.dispatchEvent(
            new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }),
          );
      },
      [name, text],
    );
  await drop('dropped.json');
  await drop('second.json');
  const files = page.getByRole('list', { name: 'Files' });
  await expect(files.getByRole('listitem', { name: 'dropped.json' })).toContainText(/sent/);
  await files.getByRole('button', { name: 'Stop second.json' }).click();
  await expect(files.getByRole('listitem', { name: 'second.json' })).toContainText(
    'nothing of it was stored',
  );
  await page.keyboard.press('Escape');
  const strip = page.getByRole('button', { name: /^Uploading/ });
  await expect(strip).toBeVisible();
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await expect(new RunsPage(page).shown).toBeVisible();
  await expect(strip).toBeVisible();
  letGo();
  await expect(page.getByRole('status', { name: 'Uploads' })).toContainText(
    /dropped.json: (1 run read|Nothing new)/,
  );
  await expect(strip).toHaveCount(0);
});
