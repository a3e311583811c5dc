/** So many pieces of work at once, in the order in which they asked. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Resolves when it is this one's turn; `undefined` where `signal` aborted before. Whoever has a turn ends it. */
  async take(signal: AbortSignal): Promise<{ readonly end: () => void } | undefined> {
    if (signal.aborted) return undefined;
    if (this.#free > 0) this.#free--;
    else if (!(await this.#called(signal))) return undefined;
    let over = false;
    return {
      end: () => {
        if (over) return;
        over = true;
        const next = this.#waiting.shift();
        if (next === undefined) this.#free++;
        else next();
      },
    };
  }

  /** Whether the turn of another was handed over. */
  #called(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const call = () => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(call), 1);
        resolve(false);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(call);
    });
  }
}
