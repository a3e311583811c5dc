import { apiUrl, runPath } from '@/lib/client/api';
import { source } from '@/lib/client/source';
import { fileNames, zipParts } from './zip';

/** Ending of the native format's file. */
const ENDING = '.rerail.ndjson';

export interface Exported {
  readonly name: string;
  readonly file: Blob;
}

/** One run as its native file, several as a ZIP of theirs. Throws with what went wrong, and where. */
export async function exportRuns(
  ids: readonly string[],
  told: (done: number) => void,
  signal: AbortSignal,
): Promise<Exported> {
  const names = fileNames(ids, ENDING);
  const files: { readonly name: string; readonly content: Uint8Array<ArrayBuffer> }[] = [];
  for (const [n, id] of ids.entries()) {
    const answer = await source().fetch(apiUrl(runPath(id, '/export')), { signal });
    if (!answer.ok) throw new Error(`${id} was not exported: the console answered ${answer.status}`);
    files.push({ name: names[n] ?? id, content: new Uint8Array(await answer.arrayBuffer()) });
    told(n + 1);
  }
  const [only] = files;
  if (files.length === 1 && only !== undefined)
    return { name: only.name, file: new Blob([only.content], { type: 'application/x-ndjson' }) };
  return {
    name: `rerail-${files.length}-runs.zip`,
    file: new Blob([...zipParts(files)], { type: 'application/zip' }),
  };
}

/** Hands a file to the browser, as a download. */
export function download({ name, file }: Exported): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
