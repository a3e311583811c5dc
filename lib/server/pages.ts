import { headers } from 'next/headers';
import { runId, seq } from '@/lib/core/events/ids';
import { getRun } from '@/lib/usecases/get-run';
import { stepsAround } from '@/lib/usecases/steps-around';
import type { GraphAt, RunSummary, StepRow } from '@/lib/wire/v1/runs';
import { askedBy } from './asked-by';
import { deps } from './container';
import type { Deps } from './deps';
import { credentialsOf } from './gate';
import { orNull } from './present/common';
import { presentStep } from './present/rows';
import { presentRun } from './present/run';
import { presentVisit } from './present/state';

/* What pages are given with their HTML, so that they need not ask for it. The same as the API answers. */

/** Summary of a run; undefined where there is none. */
export async function readRun(id: string): Promise<RunSummary | undefined> {
  const found = await getRun(await askedByReader(), { runId: runId(id) });
  return found.ok ? presentRun(found.value) : undefined;
}

/** The steps around a moment, as `/steps` gives them, and the visits around it, as `/graph` does. */
interface ReadSteps {
  readonly items: readonly StepRow[];
  readonly total: number;
  /** All that began after the first seq, up to the second (null: to the end). */
  readonly after: number;
  readonly to: number | null;
  readonly visits: GraphAt['visits'];
}

/** So many steps up to `at` and so many after it; undefined where there is no run, or no step near before it. */
export async function readStepsAround(
  id: string,
  at: number,
  { before, after }: { readonly before: number; readonly after: number },
): Promise<ReadSteps | undefined> {
  const found = await stepsAround(await askedByReader(), { runId: runId(id), at: seq(at), before, after });
  if (!found.ok || found.value === undefined) return undefined;
  const { steps, visits, total, ...stretch } = found.value;
  return {
    items: steps.map(({ step, inForce }) => presentStep(step, inForce)),
    total,
    after: stretch.after,
    to: orNull(stretch.to),
    visits: visits.map(presentVisit),
  };
}

/** The root's content for whoever looks at the page; the proxy has let nobody else through. */
async function askedByReader(): Promise<Deps> {
  const [ready, asked] = await Promise.all([deps(), headers()]);
  const entered = ready.gate.enter(credentialsOf((name) => asked.get(name) ?? undefined));
  return askedBy(ready, entered.ok ? entered.value : undefined);
}

/** What an upload may be, as the pages say it before anything is sent. */
export async function readUploadTerms() {
  const { importers, uploads } = await deps();
  return {
    formats: importers.map(({ id, title }) => ({ format: id, title })),
    mostBytes: uploads.bodyBytes,
    mostUnzippedBytes: uploads.unzippedBytes,
  };
}
