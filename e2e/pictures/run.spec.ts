import type { Page } from '@playwright/test';
import { RunPage } from '../pages/run-page';
import { expect, test } from './house';
import { look } from './look';
import { COMPLETED_RUN, REFUND_RUN, WAITING_RUN } from './stories';
import {
  CANCELLED_RUN,
  DOUBTS_RUN,
  FAILED_RUN,
  LONG_RUN,
  LOST_RUN,
  MINED_RUN,
  PAUSED_RUN,
  RUNNING_RUN,
} from './town';

/* The run page in every state. */

async function open(page: Page, runId: string, search = ''): Promise<RunPage> {
  const run = new RunPage(page);
  await page.goto(`/runs/${encodeURIComponent(runId)}${search}`);
  await run.drawn();
  return run;
}

test('the inspector’s views', async ({ page }) => {
  const run = await open(page, REFUND_RUN, '?seq=82');
  for (const [n, tab] of ['Step', 'State', 'Diff', 'Messages', 'Effects'].entries()) {
    await page.keyboard.press(String(n + 1));
    await expect(run.inspector.getByRole('tabpanel', { name: tab })).toBeVisible();
    if (tab === 'Diff') await run.inspector.getByRole('button', { name: 'start' }).click();
    await look(page, `run-inspector-${tab.toLowerCase()}`, { part: run.inspector });
  }
});

test('the cursor in the middle', async ({ page }) => {
  await open(page, REFUND_RUN, '?seq=40');
  await look(page, 'run-middle');
});

test('the whole run in the graph, time in the scrubber, the tree searched', async ({ page }) => {
  const run = await open(page, REFUND_RUN, '?graph=whole&axis=time&find=refund&show=effects');
  await expect(run.step('create_refund#1')).toBeVisible();
  await look(page, 'run-whole');
});

test('what can be ordered, shared and exported', async ({ page }) => {
  const run = await open(page, WAITING_RUN);
  await page.getByRole('button', { name: 'More actions' }).click();
  await look(page, 'run-menu', { part: page.getByRole('menu') });
  await (await run.inMenu('Cancel')).click();
  await look(page, 'run-cancel', { part: page.getByRole('dialog') });
});

const standing: readonly (readonly [name: string, runId: string])[] = [
  ['waiting', WAITING_RUN],
  ['failed', FAILED_RUN],
  ['interrupted', LOST_RUN],
  ['doubts', DOUBTS_RUN],
  ['paused', PAUSED_RUN],
  ['cancelled', CANCELLED_RUN],
  ['completed', COMPLETED_RUN],
  ['running', RUNNING_RUN],
  ['long', LONG_RUN],
  ['mined', MINED_RUN],
];
for (const [name, runId] of standing) {
  test(name, async ({ page }) => {
    await open(page, runId);
    await look(page, `run-${name}`);
  });
}

test('queued and diverged', async ({ page, house }) => {
  await page.goto(`/runs/${house.town.queuedRun}`);
  await look(page, 'run-queued');
  await open(page, house.town.divergedRun);
  await look(page, 'run-diverged');
});

test('no such run', async ({ page }) => {
  await page.goto('/runs/run_01k7nobody');
  await expect(page.getByText('There is no run run_01k7nobody')).toBeVisible();
  await look(page, 'run-none');
});

test('an event that is not there yet', async ({ page }) => {
  await open(page, FAILED_RUN, '?seq=400');
  await look(page, 'run-no-event');
});

test('on its way, and parts that could not be read', async ({ page }) => {
  await page.route(/\/api\/v1\/runs\/[^?]+\/(events|steps|graph|checkpoints|effects)/, () => undefined);
  await page.goto(`/runs/${FAILED_RUN}`);
  await expect(page.locator('.skeleton').first()).toBeVisible();
  await look(page, 'run-loading', { loading: true });
  await page.unrouteAll();
  await page.route(/\/api\/v1\/runs\/[^?]+\/(steps|graph|checkpoints|effects)/, (route) => route.abort());
  await page.goto(`/runs/${FAILED_RUN}`);
  for (const part of [/^The effects could/, /^The graph could/, /^The checkpoints could/])
    await expect(page.getByText(part)).toBeVisible();
  await expect(page.getByRole('region', { name: 'Timeline' }).getByRole('alert')).toBeVisible();
  await look(page, 'run-unread');
});

test('the console is away', async ({ page }) => {
  await open(page, FAILED_RUN);
  await page.context().setOffline(true);
  await expect(page.getByText(/No answer came/).first()).toBeVisible();
  await look(page, 'run-away');
});
