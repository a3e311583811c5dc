import { expect, type Locator, type Page } from '@playwright/test';

/** One run: header, situation, timeline, graph, inspector. */
export class RunPage {
  readonly #page: Page;
  /** The run's status in words, in the header. */
  readonly status: Locator;
  /** What is in doubt and what can be done about it. */
  readonly doubts: Locator;
  readonly question: Locator;
  /** Where a replay differed: recorded beside new. */
  readonly divergence: Locator;
  readonly tree: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.status = page.getByRole('status', { name: 'Run status' });
    this.doubts = page.getByRole('region', { name: 'Effects in doubt' });
    this.question = page.getByRole('region', { name: 'Question' });
    this.divergence = page.getByRole('region', { name: 'Divergence' });
    this.tree = page.getByRole('tree', { name: 'Visits and steps' });
  }

  async open(runId: string): Promise<void> {
    await this.#page.goto(`/runs/${encodeURIComponent(runId)}`);
    await expect(this.#page.getByRole('heading', { level: 1 })).toContainText(runId);
  }

  /** Waits until the machine is drawn: everything that the page loads for it is there. */
  async drawn(): Promise<void> {
    await expect(this.#page.getByRole('button', { name: /^State / }).first()).toBeVisible();
  }

  /** Id of the run that the page shows. */
  get runId(): string {
    return decodeURIComponent(new URL(this.#page.url()).pathname.split('/')[2] ?? '');
  }

  step(name: string): Locator {
    return this.tree.getByRole('treeitem', { name: new RegExp(`^${name}`) });
  }

  /** The header's order of that mode leads to the plan. */
  async plan(mode: 'Resume' | 'Fork' | 'Replay'): Promise<void> {
    const order =
      mode === 'Resume'
        ? this.#page.getByRole('link', { name: /^(Resume|Settle and resume)/ })
        : this.#page.getByRole('link', { name: mode });
    await order.click();
  }
}
