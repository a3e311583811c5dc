import { fail, ok, type Result } from '@/lib/core/shared/result';
import { type ApiProblem, toProblem, unreachable } from './api';
import { source } from './source';

/** Beyond letters, digits and a few signs, file systems and shells disagree. */
export const fileName = (runId: string, ending: string): string => {
  const name = runId.replaceAll(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^[._]+/, '');
  return `${[...name].slice(0, 100).join('') || 'run'}.${ending}`;
};

/** The body of a read, told of as it comes. A body that breaks off is no file. */
export async function download(
  url: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Result<Blob, ApiProblem>> {
  try {
    const response = await source().fetch(url, { signal });
    if (!response.ok) return fail(toProblem(response.status, await response.text()));
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      parts.push(part.value);
      bytes += part.value.byteLength;
      onBytes(bytes);
    }
    return ok(new Blob(parts, { type: response.headers.get('content-type') ?? '' }));
  } catch (error) {
    if (signal.aborted) throw error;
    return fail(
      unreachable(`The file broke off (${error instanceof Error ? error.message : String(error)}).`),
    );
  }
}

/** Gives a file to whoever looks at the page. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
