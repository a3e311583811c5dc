import { expect, type Locator, type Page } from '@playwright/test';

/** The plan of an order: where it starts, every step's fate, what has to be decided, and the button. */
export class PlanPage {
  readonly #page: Page;
  readonly table: Locator;
  readonly leftBehind: Locator;
  readonly inTheWay: Locator;
  /** Why an order was refused. */
  readonly refusal: Locator;
  /** What changed in the plan by itself. */
  readonly changed: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.table = page.getByRole('table', { name: 'Plan' });
    this.leftBehind = page.getByRole('region', { name: 'Left behind' });
    this.inTheWay = page.getByRole('region', { name: 'In the way' });
    this.refusal = page.getByRole('alert').filter({ hasText: 'Refused' });
    this.changed = page.getByRole('alert').filter({ hasText: 'The plan changed' });
  }

  async open(runId: string, mode = 'resume'): Promise<void> {
    await this.#page.goto(`/runs/${encodeURIComponent(runId)}/plan?mode=${mode}`);
    await expect(this.table).toBeVisible();
  }

  /** Rows of one step, such as `create_refund#1`. */
  rows(step: string): Locator {
    return this.table.getByRole('row').filter({ has: this.#page.getByText(step, { exact: true }) });
  }

  /** Key, disposition and reason of every step in the plan, visits unfolded, in the order shown. */
  async dispositions(): Promise<
    readonly { readonly key: string; readonly disposition: string; readonly reason: string }[]
  > {
    const folded = this.table.getByRole('button', { expanded: false });
    while ((await folded.count()) > 0) await folded.first().click();
    // One look at the whole table, so that no plan made meanwhile is mixed in.
    return this.table.evaluate((table) =>
      [...table.querySelectorAll<HTMLElement>('tr[data-step]')].map((row) => {
        const [disposition = '', , , reason = ''] = [...row.querySelectorAll('td')].map(
          (cell) => cell.textContent ?? '',
        );
        return {
          key: row.dataset['step'] ?? '',
          disposition: disposition.trim(),
          reason: reason.trim(),
        };
      }),
    );
  }

  /** What may run beyond the frontier, row by row, as it reads. */
  async envelope(): Promise<readonly string[]> {
    const group = this.table.getByRole('rowgroup').filter({ hasText: 'Goes live beyond the frontier' });
    return (await group.getByRole('row').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
  }

  effect(name: string): Locator {
    return this.#page.getByRole('region', { name: `Effect ${name}` });
  }

  /** Asks downstream and waits for its answer. */
  async verify(name: string): Promise<Locator> {
    await this.effect(name).getByRole('button', { name: 'Ask downstream' }).click();
    const answer = this.effect(name).getByRole('status', { name: 'Answer from downstream' });
    await expect(answer).toContainText(/Found|Not found|No definite answer/);
    return answer;
  }

  /** The list of points to start from, open. */
  async openPoints(): Promise<Locator> {
    await this.#page.getByRole('button', { name: /^Start from / }).click();
    const points = this.#page.getByRole('dialog', { name: 'Where to start' });
    await expect(points.getByRole('option').first()).toBeVisible();
    return points;
  }

  /** Picks a point whose words begin so, such as `/^1, /` or `the start`. */
  async pickCheckpoint(label: string | RegExp): Promise<void> {
    const words = typeof label === 'string' ? new RegExp(`^${label}`, 'i') : label;
    const points = await this.openPoints();
    await points.getByRole('option').filter({ hasText: words }).first().click();
    await expect(points).toHaveCount(0);
  }

  /** Takes a variable into the fork with another value. */
  async editVariable(name: string, change: (text: string) => string): Promise<void> {
    const edits = this.#page.getByRole('region', { name: 'Edits' });
    await edits.getByRole('combobox', { name: 'Edit a variable' }).selectOption({ label: name });
    const field = edits.getByRole('textbox', { name: `New value of /variables/${name}` });
    await field.fill(change(await field.inputValue()));
  }

  async haveRead(): Promise<void> {
    await this.#page.getByRole('button', { name: 'I have read it' }).click();
  }

  /** The button that gives the order; its words say what will really run. */
  order(mode: 'Resume' | 'Rewind' | 'Fork' | 'Replay'): Locator {
    return this.#page.getByRole('button', { name: new RegExp(`^${mode}: `) });
  }

  async give(mode: 'Resume' | 'Rewind' | 'Fork' | 'Replay'): Promise<void> {
    const button = this.order(mode);
    await expect(button).not.toHaveAttribute('aria-disabled', 'true');
    await button.click();
  }
}
