import type { Locator, Page } from '@playwright/test';

/** The list of runs. */
export class RunsPage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async open(): Promise<void> {
    await this.#page.goto('/runs');
  }

  row(runId: string): Locator {
    return this.#page
      .getByRole('row')
      .filter({ has: this.#page.getByRole('link', { name: runId, exact: true }) });
  }

  async search(text: string): Promise<void> {
    await this.#page.getByRole('searchbox', { name: 'Search runs' }).fill(text);
  }

  async openRun(runId: string): Promise<void> {
    await this.#page.getByRole('link', { name: runId, exact: true }).click();
  }
}
