import { ApiClient, TestWorker } from '../../lib/testing/api-client';
import { expect, test } from '../fixtures/desk';
import { RunPage } from '../pages/run-page';

const STEP = 'plan#1/lookup#1';

/** A run whose tool was asked `input` and gave `result`, with `result` as a variable beside it. */
async function recorded(url: string, runId: string, input: unknown, result: string): Promise<void> {
  const worker = await TestWorker.create(new ApiClient(url), { runId });
  const found = worker.text(result);
  await worker.write(
    worker.enter('plan'),
    worker.read(STEP, input),
    { ...worker.done(STEP), result: found },
    {
      kind: 'variables.patched',
      key: 'plan#1',
      patch: [{ op: 'add', path: '/found', value: found }],
    },
  );
}

test('markup, terminal codes, marks that turn text round and half characters are text, and nothing of them runs (S36)', async ({
  rail,
  page,
}) => {
  const hostile = {
    html: '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>',
    ansi: '\u001b[31mred\u001b[0m',
    half: 'a\ud800b',
    nul: 'c\u0000d',
    turned: 'pay \u202e00.841\u202c EUR',
    hebrew: 'שלום',
  };
  const line = 'z'.repeat(300_000);
  await recorded(rail.url, 'hostile', hostile, JSON.stringify(hostile));
  await recorded(rail.url, 'one-line', {}, JSON.stringify({ line }));

  const run = new RunPage(page);
  await run.open('hostile');
  await run.step('lookup#1').click();
  const said = [
    '"<img src=x onerror=\\"window.ran = 1\\"><script>window.ran = 1</script>"',
    '"\\u001b[31mred\\u001b[0m"',
    '"a\\ud800b"',
    '"c\\u0000d"',
    '"pay ⟨U+202E⟩00.841⟨U+202C⟩ EUR"',
    '"שלום"',
  ];
  for (const where of ['Input', 'Result'])
    for (const text of said) await expect(run.value(where)).toContainText(text);
  await run.open('hostile');
  const state = await run.inspect('State');
  await expect(state.getByRole('listitem').filter({ hasText: 'found' })).toContainText('⟨U+202E⟩');
  const diff = await run.inspect('Diff');
  await diff.getByRole('button', { name: 'start' }).click();
  await expect(diff.getByRole('list', { name: 'Changes' })).toContainText('⟨U+202E⟩');
  expect(await page.evaluate(() => 'ran' in window)).toBe(false);
  expect(await page.locator('main img, main script').count()).toBe(0);

  await run.open('one-line');
  await run.step('lookup#1').click();
  await run.inspector.getByRole('button', { name: 'Load 293.0 KiB' }).click();
  const more = run.value('Result').getByRole('button', { name: /more characters/ });
  await expect(more).toHaveText(/… 298,000 more characters/);
  while ((await more.count()) > 0) await more.click();
  await expect.poll(() => run.value('Result').textContent()).toContain(JSON.stringify(line));
  // Wrapped, not wider than its pane.
  const wide = await run.value('Result').evaluate((section) => section.scrollWidth - section.clientWidth);
  expect(wide).toBeLessThanOrEqual(0);
  await page.keyboard.press('Home');
  await expect(run.cursor).toHaveAttribute('aria-valuenow', '1');
});

test('a value of 3 MB and a request of 900 KB are shown in parts, and all of it can be read (S24)', async ({
  rail,
  page,
}) => {
  const rows = Array.from({ length: 55_000 }, (_, n) => ({
    order: `ORD-${n}`,
    note: '€ 148.00 paid, 🚂 sent',
  }));
  const result = JSON.stringify({ rows });
  expect(Buffer.byteLength(result)).toBeGreaterThan(3_000_000);
  const prompt = 'Refund order ORD-2. '.repeat(45_000);
  await recorded(rail.url, 'large', { prompt }, result);

  const run = new RunPage(page);
  await run.open('large');
  await run.step('lookup#1').click();
  const loads = run.inspector.getByRole('button', { name: /^Load / });
  await expect(loads).toHaveText([/^Load 878.9 KiB$/, /^Load \d\.\d MiB$/]);
  await loads.last().click();
  await expect(run.inspector).toContainText(
    `1 to 64,000 of ${result.length.toLocaleString('en-US')} characters`,
  );
  const parts = await run.inspector.evaluate(async (pane) => {
    const said: string[] = [];
    for (;;) {
      said.push(pane.querySelector('section[aria-label="Result"]')?.textContent ?? '');
      const next = [...pane.querySelectorAll('button')].find(
        (button) => button.textContent === 'The next part',
      );
      if (next === undefined) return said;
      next.click();
      // React draws what a press changed before this.
      await Promise.resolve();
    }
  });
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(64_000);
  expect(parts.join('') === result).toBe(true);
  await run.inspector.getByRole('button', { name: 'The part before' }).click();
  expect(result.includes((await run.value('Result').textContent()) ?? 'none')).toBe(true);

  await run.inspector.getByRole('button', { name: 'Show as a tree' }).click();
  await run.value('Result').getByRole('button', { name: '100 of 55,000: show more' }).click();
  await run
    .value('Result')
    .getByRole('button', { name: /^1099: / })
    .click();
  await expect(run.value('Result')).toContainText('"ORD-1099"');
  await expect(run.value('Result')).toContainText('1,100 of 55,000');
  await page.keyboard.press('End');

  await loads.first().click();
  await expect(run.inspector).toContainText('1 to 64,000 of 900,0');
  await page.getByRole('tab', { name: 'State' }).click();
  await expect(run.inspector.getByRole('tabpanel', { name: 'State' })).toContainText('found');
});
