import { expect, type Locator, type Page } from '@playwright/test';

export type InspectorTab = 'Step' | 'State' | 'Diff' | 'Messages' | 'Effects';

/** One run: header, situation, timeline, graph, inspector, scrubber. */
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
  readonly machine: Locator;
  readonly inspector: Locator;
  /** The scrubber's handle. */
  readonly cursor: Locator;
  /** Where the effect of the step at the cursor stands. */
  readonly effectLine: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.status = page.getByRole('status', { name: 'Run status' });
    this.doubts = page.getByRole('region', { name: 'Effects in doubt' });
    this.question = page.getByRole('region', { name: 'Question' });
    this.divergence = page.getByRole('region', { name: 'Divergence' });
    this.tree = page.getByRole('tree', { name: 'Visits and steps' });
    this.machine = page.getByRole('region', { name: 'Machine' });
    this.inspector = page.getByRole('region', { name: 'Inspector' });
    this.effectLine = this.inspector.getByRole('list', { name: 'Where the effect stands' });
    this.cursor = page.getByRole('slider', { name: 'Cursor' });
  }

  /** Opens the page, at a moment where one is given. */
  async open(runId: string, seq?: number): Promise<void> {
    await this.#page.goto(`/runs/${encodeURIComponent(runId)}${seq === undefined ? '' : `?seq=${seq}`}`);
    await expect(this.#page.getByRole('heading', { level: 1 })).toContainText(runId);
    await this.whole();
  }

  /** Waits until the rows that came with the page are all of them: until then no script may have listened to a key or press. */
  async whole(): Promise<void> {
    await expect(this.tree.locator('[aria-setsize="-1"]')).toHaveCount(0);
  }

  /** Waits until the machine is drawn: everything that the page loads for it is there. */
  async drawn(): Promise<void> {
    await expect(this.machine.getByRole('button', { name: /^State / }).first()).toBeVisible();
  }

  /** Id of the run that the page shows. */
  get runId(): string {
    return decodeURIComponent(new URL(this.#page.url()).pathname.split('/')[2] ?? '');
  }

  step(name: string): Locator {
    return this.tree.getByRole('treeitem', { name: new RegExp(`^${name}`) });
  }

  state(name: string): Locator {
    return this.machine.getByRole('button', { name: new RegExp(`^State ${name},`) });
  }

  /** How large the machine is drawn. */
  zoom(): Promise<number> {
    return this.machine
      .locator('.react-flow__viewport')
      .evaluate((drawn) => new DOMMatrix(getComputedStyle(drawn).transform).a);
  }

  /** Every pane stands at `seq`: scrubber, tree, machine, inspector, address. */
  async standsAt(seq: number, { row, state, step }: Moment): Promise<void> {
    await expect(this.cursor).toHaveAttribute('aria-valuenow', String(seq));
    await expect(this.tree.getByRole('treeitem', { selected: true })).toHaveAccessibleName(
      new RegExp(`^${row}`),
    );
    await expect(this.state(state)).toHaveAccessibleName(/, at the cursor/);
    await expect(this.machine.getByRole('button', { name: /, at the cursor/ })).toHaveCount(1);
    await expect(this.inspector).toContainText(`seq ${seq}`);
    await expect(this.inspector.getByRole('heading', { level: 2 })).toHaveText(step);
    await expect(this.#page).toHaveURL(new RegExp(`[?&]seq=${seq}(&|$)`));
  }

  /** Presses the scrubber where `seq` lies. */
  async scrubTo(seq: number): Promise<void> {
    const head = Number(await this.cursor.getAttribute('aria-valuemax'));
    const box = await this.cursor.boundingBox();
    if (box === null) throw new Error('the scrubber is not shown');
    await this.cursor.click({ position: { x: (box.width * (seq - 0.5)) / head, y: box.height / 2 } });
  }

  /** Presses the scrubber at `from` and drags through `to`, one after the other, without letting go. */
  async drag(from: number, ...to: readonly number[]): Promise<void> {
    const head = Number(await this.cursor.getAttribute('aria-valuemax'));
    const box = await this.cursor.boundingBox();
    if (box === null) throw new Error('the scrubber is not shown');
    const place = (seq: number) =>
      [box.x + (box.width * (seq - 0.5)) / head, box.y + box.height / 2] as const;
    await this.#page.mouse.move(...place(from));
    await this.#page.mouse.down();
    for (const seq of to) await this.#page.mouse.move(...place(seq));
  }

  async inspect(tab: InspectorTab): Promise<Locator> {
    await this.inspector.getByRole('tab', { name: tab }).click();
    return this.inspector.getByRole('tabpanel', { name: tab });
  }

  /** A recorded value in the inspector, such as `Result`. */
  value(name: string): Locator {
    return this.inspector.getByRole('region', { name, exact: true });
  }

  /** The header's order of that mode leads to the plan. */
  async plan(mode: 'Resume' | 'Fork' | 'Replay'): Promise<void> {
    const order =
      mode === 'Resume'
        ? this.#page.getByRole('link', { name: /^(Resume|Decide and resume)/ })
        : this.#page.getByRole('link', { name: mode });
    await order.click();
  }

  /** The header's order of that mode where it cannot be given. */
  disabled(mode: 'Resume' | 'Fork' | 'Replay'): Locator {
    return this.#page.getByRole('button', { name: new RegExp(`^${mode}`) });
  }

  /** An order of the menu, which is opened for it. */
  async inMenu(mode: 'Rewind' | 'Pause' | 'Cancel'): Promise<Locator> {
    const item = this.#page.getByRole('menuitem', { name: mode });
    if (!(await item.isVisible())) await this.#page.getByRole('button', { name: 'More actions' }).click();
    return item;
  }

  /** An order without a plan, from the menu through its dialog, which says what it will do. */
  async stop(mode: 'Pause' | 'Cancel', reason: string): Promise<void> {
    await (await this.inMenu(mode)).click();
    const dialog = this.#page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason);
    await dialog.getByRole('button', { name: `${mode} the run` }).click();
    await expect(dialog).toBeHidden();
  }
}

/** What the panes say at one moment. */
interface Moment {
  /** How the cursor's row in the tree begins. */
  readonly row: string;
  readonly state: string;
  readonly step: string;
}
