import type { Locator, Page } from '@playwright/test';

/** The list of runs. */
export class RunsPage {
  readonly #page: Page;
  /** How many runs are shown, of how many. */
  readonly shown: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.shown = page.getByRole('status', { name: 'Runs shown' });
  }

  /** Opens the list, with filters where they are given: `tag=a`. */
  async open(filters = ''): Promise<void> {
    await this.#page.goto(`/runs?${filters}`);
  }

  row(runId: string): Locator {
    return this.#page
      .getByRole('row')
      .filter({ has: this.#page.getByRole('link', { name: runId, exact: true }) });
  }

  async search(text: string): Promise<void> {
    await this.#page.getByRole('searchbox', { name: 'Search runs' }).fill(text);
  }

  /** Ticks or unticks a status in the filter's menu. */
  async toggleStatus(word: string): Promise<void> {
    await this.#page.getByRole('button', { name: 'Filter by status' }).click();
    await this.#page.getByRole('menuitemcheckbox', { name: word }).click();
    await this.#page.keyboard.press('Escape');
  }

  async filterByTag(tag: string): Promise<void> {
    const field = this.#page.getByRole('textbox', { name: 'Filter by tag' });
    await field.fill(tag);
    await field.press('Enter');
  }

  async openRun(runId: string): Promise<void> {
    await this.#page.getByRole('link', { name: runId, exact: true }).click();
  }
}
