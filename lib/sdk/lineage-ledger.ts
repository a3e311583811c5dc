import type { Hub } from './hub';
import type { LedgerEntry } from './journal-port';
import type { Operation } from './operation';

/** The lineage's effect ledger as it was read last. */
export class LineageLedger {
  private readonly hub: Pick<Hub, 'told'>;
  private readonly read: () => Promise<readonly LedgerEntry[]>;
  private entries: readonly LedgerEntry[] = [];

  constructor(hub: Pick<Hub, 'told'>, read: () => Promise<readonly LedgerEntry[]>) {
    this.hub = hub;
    this.read = read;
  }

  /** Reads it again, once it has all that this worker has to tell it. */
  async refresh(): Promise<void> {
    let before: number;
    do {
      before = await this.hub.told();
      this.entries = await this.read();
    } while ((await this.hub.told()) !== before);
  }

  /** Rows of a call, generations ascending. */
  rowsOf(op: Pick<Operation, 'key'>): readonly LedgerEntry[] {
    return this.entries
      .filter((entry) => entry.stepKey === op.key)
      .sort((a, b) => a.generation - b.generation);
  }
}
