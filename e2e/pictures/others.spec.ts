import { PlanPage } from '../pages/plan-page';
import { RunPage } from '../pages/run-page';
import { invoiceTriage, invoiceTriageNext } from './agents';
import { expect, test } from './house';
import { atHome, look } from './look';
import { REFUND_RUN } from './stories';
import { hosts } from './teller';
import { OUTDATED_RUN } from './town';

/* The pages around the runs. */

for (const way of ['sdk', 'otlp', 'http', 'upload']) {
  test(`connect by ${way}`, async ({ page, house }) => {
    await page.goto(`/connect?via=${way}`);
    await expect(page.getByRole('complementary', { name: 'Arrivals' })).toContainText(/Waiting/);
    await atHome(page, house.url);
    await look(page, `connect-${way}`);
  });
}

for (const [name, search] of [
  ['api', ''],
  ['api-operation', '?op=giveCommand'],
  ['api-schema', '?schema=Run'],
  ['api-search', '?q=share'],
  ['api-none', '?q=nothing-is-called-this'],
] as const) {
  test(`the API page, ${name}`, async ({ page, house }) => {
    await page.goto(`/api-reference${search}`);
    await expect(page.getByRole('navigation', { name: 'Operations' })).toBeVisible();
    // React has taken over what the server wrote: until then nobody else may change it.
    await expect(
      page
        .getByRole('navigation', { name: 'Main' })
        .getByTitle(/ runs$/)
        .first(),
    ).toBeAttached();
    await atHome(page, house.url);
    await look(page, name);
  });
}

test('nothing at an address', async ({ page }) => {
  await page.goto('/nowhere');
  await look(page, 'nowhere');
});

test.describe('signed out', () => {
  test.use({ signedIn: false });

  test('sign in', async ({ page }) => {
    await page.goto('/runs');
    await expect(page.getByLabel('Your name')).toBeFocused();
    await look(page, 'sign-in');
  });

  test('a shared run, and one that is shared no more', async ({ page, house }) => {
    await page.goto(house.town.shared);
    await new RunPage(page).drawn();
    await look(page, 'shared');
    await page.goto(house.town.expired);
    await expect(page.getByText(/expired/).first()).toBeVisible();
    await look(page, 'shared-expired');
  });
});

/* What these do is in the audit, which is looked at first. */
test.describe('one after the other', () => {
  test.describe.configure({ mode: 'default' });

  test('audit', async ({ page }) => {
    await page.goto('/audit');
    await expect(page.getByRole('table')).toBeVisible();
    await look(page, 'audit');
    await page.goto('/audit?q=nobody+did+this');
    await expect(page.getByText('Nothing in the audit matches')).toBeVisible();
    await look(page, 'audit-none');
  });

  test('share and export', async ({ page }) => {
    await page.goto(`/runs/${REFUND_RUN}?open=export`);
    const dialog = page.getByRole('dialog', { name: 'Share and export' });
    await expect(dialog.getByRole('list', { name: 'Links that are open' })).toBeVisible();
    // What the copy of a page weighs changes with every change of its code.
    const weight = dialog.getByRole('region', { name: 'Web page' }).locator('h3 span');
    await expect(weight).toBeVisible();
    await look(page, 'export', { mask: [weight] });
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const link = dialog.getByRole('textbox', { name: 'The link' });
    await expect(link).toBeVisible();
    // The console's port is in it.
    await look(page, 'export-link', { part: dialog, mask: [weight, link] });
  });

  test('a plan that changed', async ({ page, house }) => {
    const plan = new PlanPage(page);
    await plan.open(OUTDATED_RUN);
    await expect(plan.order('Resume')).not.toHaveAttribute('aria-disabled', 'true');
    // The page keeps the plan that it shows; meanwhile a worker comes whose machine is another one.
    await page.route('**/api/v1/workers', (route) => route.abort());
    await hosts(house, 'eu-4', invoiceTriageNext);
    await plan.give('Resume');
    await expect(plan.refusal).toContainText('Refused: the plan was out of date');
    await look(page, 'plan-refused');
    await plan.haveRead();
    await page.unrouteAll();
    await hosts(house, 'eu-5', invoiceTriage);
    await expect(plan.changed).toBeVisible();
    await look(page, 'plan-changed');
  });

  test.describe('by somebody unknown', () => {
    test.use({ signedIn: false });
    test('a wrong token', async ({ page }) => {
      await page.goto('/sign-in');
      await page.getByLabel('Your name').fill('Ada');
      await page.getByLabel('Token').fill('not-a-token-of-this-console');
      await page.keyboard.press('Enter');
      await expect(page.getByText('This console does not know the token.')).toBeVisible();
      await look(page, 'sign-in-refused');
    });
  });
});
