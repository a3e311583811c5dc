import { type RunId, runId } from '@/lib/core/events/ids';
import type { FileJson } from '@/lib/ingest/json';
import type { ImportedPart, ImportWarning } from '@/lib/usecases/ports';
import { canonical, type Misfit, textOf } from './canonical';
import { RESOURCE, SCOPE, SPAN } from './fields';

/* From spans as a file has them to parts: each with its resource and scope, in one form. */

type Members = { readonly [key: string]: FileJson };

/** What spans stand in. `resourceSpans` and `scopeSpans`: what those hold beside resource, scope and spans. */
export interface Surroundings {
  readonly resource: Members;
  readonly resourceSpans: Members;
  readonly scope: Members;
  readonly scopeSpans: Members;
}

/** What has been read of a body so far. */
export interface Collected {
  readonly parts: ImportedPart[];
  readonly warnings: ImportWarning[];
  rejected: number;
}

export const nothingYet = (): Collected => ({ parts: [], warnings: [], rejected: 0 });

/** Counts a span, or a part of the file that may have held some, that cannot be read. */
export function reject(into: Collected, path: string, message: string): void {
  into.rejected += 1;
  into.warnings.push({ path, message: `skipped: ${message}` });
}

const text = new TextEncoder();
/** Without these a span has no place in a run or no place in time. */
const NEEDED: ReadonlySet<string> = new Set(['traceId', 'spanId', 'startTimeUnixNano', 'endTimeUnixNano']);

/** Canonical form of what surrounds the spans at `path`, once for all of them. */
export function surroundings(raw: Surroundings, path: string, into: Collected): Surroundings {
  const misfits: Misfit[] = [];
  const [resourcePath = path] = path.split('.scopeSpans', 1);
  const resource = canonical(RESOURCE, raw.resource, `${resourcePath}.resource`, misfits);
  const scope = canonical(SCOPE, raw.scope, `${path}.scope`, misfits);
  tell(misfits, into);
  return { ...raw, resource, scope };
}

function tell(misfits: readonly Misfit[], into: Collected): void {
  for (const { path, message } of misfits)
    into.warnings.push({ path, message: `${message}; kept as it came and not understood` });
}

/** Takes the span at `path`, or says why not. */
export function take(span: Members, around: Surroundings, path: string, into: Collected): void {
  const misfits: Misfit[] = [];
  const one = canonical(SPAN, span, path, misfits);
  const missing = misfits.find((misfit) => NEEDED.has(misfit.path.slice(path.length + 1)));
  if (missing !== undefined) {
    reject(into, missing.path, missing.message);
    return;
  }
  const trace = idIn(one['traceId'], 32);
  if (trace === undefined) {
    reject(into, `${path}.traceId`, idFault(one['traceId'], 16));
    return;
  }
  const id = idIn(one['spanId'], 16);
  if (id === undefined) {
    reject(into, `${path}.spanId`, idFault(one['spanId'], 8));
    return;
  }
  tell(misfits, into);
  const body = textOf({
    ...(hasMembers(around.resource) ? { resource: around.resource } : {}),
    ...(hasMembers(around.resourceSpans) ? { resourceSpans: around.resourceSpans } : {}),
    ...(hasMembers(around.scope) ? { scope: around.scope } : {}),
    ...(hasMembers(around.scopeSpans) ? { scopeSpans: around.scopeSpans } : {}),
    span: one,
  });
  into.parts.push({ runId: runOf(trace), id, body: text.encode(body) });
}

const runOf = (trace: string): RunId => runId(trace);

const hasMembers = (members: Members): boolean => Object.keys(members).length > 0;

/** An id of so many hexadecimal digits that is not all zeros, as the format asks for. */
const idIn = (value: FileJson | undefined, digits: number): string | undefined =>
  typeof value === 'string' && value.length === digits && /[^0]/.test(value) ? value : undefined;

function idFault(value: FileJson | undefined, bytes: number): string {
  if (value === undefined || value === '') return 'a span without this id';
  return typeof value === 'string' && /^0*$/.test(value)
    ? 'an id of zeros, which stands for none'
    : `an id of ${bytes} bytes was expected`;
}
