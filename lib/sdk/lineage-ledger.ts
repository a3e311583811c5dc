import type { StepKey } from '../core/events/ids';
import type { Hub } from './hub';
import type { LedgerEntry } from './journal-port';
import type { Operation } from './operation';

/** The lineage's effect ledger as it was read last. */
export class LineageLedger {
  private readonly hub: Pick<Hub, 'told'>;
  private readonly read: () => Promise<readonly LedgerEntry[]>;
  /** By call, generations ascending. */
  private rows: ReadonlyMap<StepKey, readonly LedgerEntry[]> = new Map();

  constructor(hub: Pick<Hub, 'told'>, read: () => Promise<readonly LedgerEntry[]>) {
    this.hub = hub;
    this.read = read;
  }

  /** Reads it again, once it has all that this worker has to tell it. */
  async refresh(): Promise<void> {
    let before: number;
    do {
      before = await this.hub.told();
      this.rows = byCall(await this.read());
    } while ((await this.hub.told()) !== before);
  }

  /** Rows of a call, generations ascending. */
  rowsOf(op: Pick<Operation, 'key'>): readonly LedgerEntry[] {
    return this.rows.get(op.key) ?? [];
  }
}

function byCall(entries: readonly LedgerEntry[]): ReadonlyMap<StepKey, readonly LedgerEntry[]> {
  const rows = new Map<StepKey, LedgerEntry[]>();
  for (const entry of entries) {
    const known = rows.get(entry.stepKey);
    if (known === undefined) rows.set(entry.stepKey, [entry]);
    else known.push(entry);
  }
  for (const of of rows.values()) of.sort((a, b) => a.generation - b.generation);
  return rows;
}
