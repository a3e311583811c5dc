import type { RunId } from '@/lib/core/events/ids';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, type Result } from '@/lib/core/shared/result';
import type { RunReader } from './ports';
import { type NotFound, noRun } from './problems';

const MOST_TRIES = 20;

/**
 * What `read` makes of a run, all of it of one edition: where its journal was assembled anew meanwhile, it is read again.
 * What is executed here is never assembled.
 */
export async function ofOneEdition<Value, Problem>(
  { store }: { readonly store: Pick<RunReader, 'run' | 'edition'> },
  id: RunId,
  read: (run: RunRecord) => Promise<Result<Value, Problem>>,
): Promise<Result<Value, Problem | NotFound>> {
  for (let tries = 1; ; tries += 1) {
    const run = await store.run(id);
    if (run === undefined) return fail(noRun(id));
    const done = await read(run).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const stands = run.home === 'here' || (await store.edition(id)) === run.edition;
    if (stands || tries === MOST_TRIES) {
      if ('value' in done) {
        if (stands) return done.value;
        throw new Error(`Run ${id} was assembled anew too often while it was read`);
      }
      throw done.error;
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
