import type { LiveFeed, RunMoved } from '@/lib/usecases/ports';

/** Listeners of this process, called in the order of their subscription; one that throws does not stop the others. */
export class LocalFeed implements LiveFeed {
  readonly #listeners = new Set<(change: RunMoved) => void>();

  publish(change: RunMoved): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        // The write that is told of here is on disk already: a listener's bug must not look like its failure.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  subscribe(listener: (change: RunMoved) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
