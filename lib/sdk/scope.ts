import type { StepKey } from '../core/events/ids';
import { keyIn } from '../core/events/step-key';
import { AgentCodeError } from './errors';
import { LONGEST_KEY, shownName } from './texts';

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
  /** Why the addresses below depend on a race; `undefined` where they do not. */
  private readonly raceAt: string | undefined;
  private ended = false;

  constructor(path: string, parent?: Scope, raceAt?: string) {
    this.path = path;
    this.parent = parent;
    this.raceAt = raceAt ?? parent?.raceAt;
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
    const key = keyIn(this.path, name, n);
    if (key.length > LONGEST_KEY)
      throw new AgentCodeError(
        `the address of ${shownName(name)} is ${key.length} characters long; at most ${LONGEST_KEY} are possible: nest less deep, or with shorter names`,
      );
    return key;
  }

  /**
   * Mints a key, and says what its number depends on where that is a race: `name` was minted last after the call that
   * caused this window had begun, so another order of answers would have swapped the two numbers.
   */
  mintIn(
    window: number,
    causeWindow: number | undefined,
    name: string,
  ): { readonly key: StepKey; readonly race: string | undefined } {
    const last = this.mintedIn.get(name);
    this.mintedIn.set(name, window);
    const key = this.mint(name);
    const isRaced = last !== undefined && last !== window && causeWindow !== undefined && causeWindow < last;
    return {
      key,
      race: isRaced
        ? `the number of ${key} depends on which answer came first: give each line of work a branch of its own with parallel()`
        : this.raceAt,
    };
  }
}
