import type { Operation } from './operation';

/** The calls of a run that were made, by address; one way in, one way out. */
export class OpenCalls {
  /** During re-entry also those that are not open any more: the record may still have their outcome. */
  private readonly byKey = new Map<string, Operation>();
  private readonly undelivered = new Set<Operation>();
  private isLive = false;

  /** Made, and neither delivered nor abandoned. */
  get all(): ReadonlySet<Operation> {
    return this.undelivered;
  }

  get(key: string): Operation | undefined {
    return this.byKey.get(key);
  }

  add(op: Operation): void {
    this.byKey.set(op.key, op);
    this.undelivered.add(op);
  }

  /** Its outcome was delivered, or its scope has ended without it. */
  close(op: Operation): void {
    this.undelivered.delete(op);
    if (this.isLive) this.byKey.delete(op.key);
  }

  /** Nothing more comes from the record: a call that is closed is not asked for again. */
  wentLive(): void {
    this.isLive = true;
    for (const [key, op] of this.byKey) if (!this.undelivered.has(op)) this.byKey.delete(key);
  }
}
