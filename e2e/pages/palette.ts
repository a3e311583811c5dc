import { expect, type Locator, type Page } from '@playwright/test';

/** The list of commands, opened by a key. */
export class Palette {
  readonly #page: Page;
  readonly dialog: Locator;
  readonly field: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.dialog = page.getByRole('dialog', { name: 'Commands' });
    this.field = this.dialog.getByRole('combobox', { name: 'Command' });
  }

  async open(): Promise<void> {
    await this.#page.keyboard.press('Control+k');
    await expect(this.field).toBeFocused();
  }

  option(words: string | RegExp): Locator {
    return this.dialog.getByRole('option').filter({ hasText: words });
  }

  /** Types, and waits until what is found is the one that would be run. */
  async find(text: string, words: string | RegExp): Promise<void> {
    await this.#page.keyboard.type(text);
    await expect(this.dialog.getByRole('option', { selected: true })).toContainText(words);
  }
}
