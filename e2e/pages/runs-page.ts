import type { Locator, Page } from '@playwright/test';

/** The list of runs. */
export class RunsPage {
  readonly #page: Page;
  /** How many runs are shown, of how many. */
  readonly shown: Locator;
  /** What is done with the runs that are selected. */
  readonly bulk: Locator;
  readonly filters: Locator;
  readonly views: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.shown = page.getByRole('status', { name: 'Runs shown' });
    this.bulk = page.getByRole('toolbar', { name: /selected$/ });
    this.filters = page.getByRole('group', { name: 'Filters' });
    this.views = page.getByRole('navigation', { name: 'Views' });
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

  /** Ids of the rows, from the top. */
  async order(): Promise<readonly string[]> {
    const links = this.#page.getByRole('table', { name: 'Runs' }).getByRole('row').getByRole('link');
    return links.evaluateAll((found) => found.map((link) => link.getAttribute('aria-label') ?? ''));
  }

  async search(text: string): Promise<void> {
    await this.#page.getByRole('searchbox', { name: 'Search runs' }).fill(text);
  }

  /** Opens what edits a filter that is not there yet. */
  async addFilter(name: string): Promise<Locator> {
    await this.#page.getByRole('button', { name: 'Filter', exact: true }).click();
    await this.#page.getByRole('menuitem', { name, exact: true }).click();
    return this.#page.getByRole('dialog', { name: `Filter by ${name.toLowerCase()}` });
  }

  /** Ticks or unticks a status. */
  async toggleStatus(word: string): Promise<void> {
    const pane = await this.addFilter('Status');
    await pane.getByRole('checkbox', { name: word }).click();
    await this.#page.keyboard.press('Escape');
  }

  async filterByTag(tag: string): Promise<void> {
    const pane = await this.addFilter('Tag');
    const field = pane.getByRole('combobox', { name: 'Filter by tag' });
    await field.fill(tag);
    await field.press('Enter');
    await this.#page.keyboard.press('Escape');
  }

  async select(runId: string): Promise<void> {
    await this.#page.getByRole('checkbox', { name: `Select ${runId}`, exact: true }).check();
  }

  async openRun(runId: string): Promise<void> {
    await this.#page.getByRole('link', { name: runId, exact: true }).click();
  }
}
