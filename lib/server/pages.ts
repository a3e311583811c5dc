import { headers } from 'next/headers';
import { runId } from '@/lib/core/events/ids';
import { getRun } from '@/lib/usecases/get-run';
import type { RunSummary } from '@/lib/wire/v1/runs';
import { askedBy } from './asked-by';
import { deps } from './container';
import type { Deps } from './deps';
import { credentialsOf } from './gate';
import { presentRun } from './present/run';

/* What pages are given with their HTML, so that they need not ask for it. The same as the API answers. */

/** Summary of a run; undefined where there is none. */
export async function readRun(id: string): Promise<RunSummary | undefined> {
  const found = await getRun(await askedByReader(), { runId: runId(id) });
  return found.ok ? presentRun(found.value) : undefined;
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
