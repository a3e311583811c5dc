import type { Result } from '@/lib/core/shared/result';
import { type ApiProblem, isDefinite } from './api';
import type { CommandAnswer, CommandBody } from './api-types';

/** An order as a person gave it. */
export interface GivenOrder {
  readonly runId: string;
  readonly body: CommandBody;
  /** What the button said. */
  readonly words: string;
  /** Epoch ms. */
  readonly at: number;
}

type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * Orders that have had no definite answer yet, by the place that they were given from. They outlive the page, so that
 * leaving it or loading it anew does not turn one order into two.
 */
export class GivenOrders {
  #orders = new Map<string, GivenOrder | undefined>();
  #listeners = new Set<() => void>();

  constructor(readonly shelf: Shelf | undefined) {}

  get(place: string): GivenOrder | undefined {
    if (!this.#orders.has(place)) this.#orders.set(place, this.#shelved(place));
    return this.#orders.get(place);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Sends an order. Where an earlier one from the same place has had no definite answer, that one is sent instead, to
   * the letter: under its id it cannot be taken twice, and under that id nothing else can be asked.
   */
  async give(
    place: string,
    order: GivenOrder,
    send: (order: GivenOrder) => Promise<Result<CommandAnswer, ApiProblem>>,
  ): Promise<Result<CommandAnswer, ApiProblem>> {
    const first = this.get(place) ?? order;
    this.#put(place, first);
    const answer = await send(first);
    if (answer.ok || isDefinite(answer.problem)) this.forget(place);
    return answer;
  }

  forget(place: string): void {
    this.#put(place, undefined);
  }

  #put(place: string, order: GivenOrder | undefined): void {
    if (this.#orders.get(place) === order) return;
    this.#orders.set(place, order);
    try {
      if (order === undefined) this.shelf?.removeItem(shelfName(place));
      else this.shelf?.setItem(shelfName(place), JSON.stringify(order));
    } catch {
      // A full or forbidden storage: the order is remembered as long as the tab is not loaded anew.
    }
    for (const tell of this.#listeners) tell();
  }

  #shelved(place: string): GivenOrder | undefined {
    try {
      const text = this.shelf?.getItem(shelfName(place));
      return typeof text === 'string' ? (JSON.parse(text) as GivenOrder) : undefined;
    } catch {
      return undefined;
    }
  }
}

const shelfName = (place: string): string => `rerail.order ${place}`;
