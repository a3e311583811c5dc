import { RunPage } from '../pages/run-page';
import { test } from './house';
import { look, shot } from './look';
import { REFUND_RUN } from './stories';

/* The pages that people work on, in every size and theme. */

const run = `/runs/${REFUND_RUN}`;
const plan = `${run}/plan?mode=resume`;

test('runs', async ({ page }) => {
  await page.goto('/runs');
  await look(page, 'runs');
});

test('run', async ({ page }) => {
  await page.goto(run);
  await new RunPage(page).drawn();
  await look(page, 'run');
});

test('plan', async ({ page }) => {
  await page.goto(plan);
  await look(page, 'plan-undecided');
});

test.describe('of the README', () => {
  test.use({ deviceScaleFactor: 1, viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
  test('run and plan', async ({ page }) => {
    await page.goto(run);
    await new RunPage(page).drawn();
    await shot(page, 'readme-run');
    await page.goto(plan);
    await shot(page, 'readme-plan');
  });
});
