/* The outside of `sdk-desk.mjs` in this process, and how a test waits for what happens there. */

interface Desk {
  /** What was sent and asked for, in order of arrival. */
  made: { readonly name: string; readonly key?: string }[];
  mailFails: boolean;
}

const shared = globalThis as unknown as Record<symbol, Desk>;
shared[Symbol.for('rerail.desk')] ??= { made: [], mailFails: false };

/** The desk shares this object. */
export const desk = shared[Symbol.for('rerail.desk')] as Desk;

/** Resolves once it is so; nothing sleeps meanwhile. Throws with `what` where it is not within 20 seconds. */
export async function until(done: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  for (const from = Date.now(); !(await done()); ) {
    if (Date.now() - from > 20_000) throw new Error(`never happened: ${what()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
