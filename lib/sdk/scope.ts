import type { StepKey } from '../core/events/ids';
import { keyIn } from '../core/events/step-key';

/**
 * A visit or a branch: where keys are minted. A key's number counts the calls of that name in this scope, so keys do
 * not depend on the order in which other scopes go on.
 */
export class Scope {
  readonly path: string;
  readonly parent: Scope | undefined;
  private readonly counters = new Map<string, number>();
  /** Release window in which each name was minted last. */
  private readonly mintedIn = new Map<string, number>();
  private ended = false;

  constructor(path: string, parent?: Scope) {
    this.path = path;
    this.parent = parent;
  }

  /** True for the scope itself and those below it. */
  within(other: Scope): boolean {
    return this === other || (this.parent?.within(other) ?? false);
  }

  /** True once this scope or one above it has ended. */
  get over(): boolean {
    return this.ended || (this.parent?.over ?? false);
  }

  end(): void {
    this.ended = true;
  }

  mint(name: string): StepKey {
    const n = (this.counters.get(name) ?? 0) + 1;
    this.counters.set(name, n);
    return keyIn(this.path, name, n);
  }

  /**
   * Notes that `name` is minted in `window` and tells whether its number depends on a race: it was minted last after
   * the call that caused this window had begun, so another order of answers would have swapped the two numbers.
   */
  raced(name: string, window: number, causeWindow: number | undefined): boolean {
    const last = this.mintedIn.get(name);
    this.mintedIn.set(name, window);
    return last !== undefined && last !== window && causeWindow !== undefined && causeWindow < last;
  }
}
