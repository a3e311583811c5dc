/** A browser that is never idle is not waited for any longer. */
const LONGEST_MS = 1_000;

/** Does `work` once the browser has nothing else to do: for what no page is opened for, such as the frame's counts. */
export async function whenIdle<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  await new Promise<void>((resolve) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: LONGEST_MS });
    // Safari has none.
    else setTimeout(resolve, 0);
  });
  return work();
}
