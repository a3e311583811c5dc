import { fail, ok, type Result } from '@/lib/core/shared/result';
import { utf8Text } from '@/lib/ingest/importer';
import { type FileJson, isList, isObject, parseJson } from '@/lib/ingest/json';
import type { ImportProblem, ImportWarning } from '@/lib/usecases/ports';
import { type Collected, nothingYet, reject, surroundings, take } from './collect';

/*
 * OTLP as JSON: one request, an array of them, or one a line (as the Collector's file exporter writes them). Older
 * names and Tempo's `batches` are the same thing; members may have their names from the protocol's own description.
 */

type Members = { readonly [key: string]: FileJson };

/** What a request may hold that makes no run. */
const SIGNALS = ['resourceLogs', 'resourceMetrics', 'resourceProfiles'] as const;

export function splitJson(bytes: Uint8Array, maxDepth: number): Result<Collected, ImportProblem> {
  const text = utf8Text(bytes);
  if (!text.ok) return text;
  const into = nothingYet();
  const whole = parseJson(text.value, maxDepth, '$');
  if (whole.ok) return readWhole(whole.value, into);
  return whole.problem.kind === 'limit' ? whole : readLines(text.value, maxDepth, whole.problem, into);
}

function readWhole(value: FileJson, into: Collected): Result<Collected, ImportProblem> {
  if (!isList(value)) return readRequest(value, '', into);
  if (value.length === 0) return fail({ kind: 'malformed', path: '$', message: 'an empty array' });
  let problem: ImportProblem | undefined;
  let read = 0;
  for (const [i, item] of value.entries()) {
    const one = readRequest(item, `$[${i}].`, into);
    if (one.ok) read += 1;
    else {
      problem ??= one.problem;
      reject(into, one.problem.path, one.problem.message);
    }
  }
  return read === 0 && problem !== undefined ? fail(problem) : ok(into);
}

/** `problem`: why the text is not one document. */
function readLines(
  text: string,
  maxDepth: number,
  problem: ImportProblem,
  into: Collected,
): Result<Collected, ImportProblem> {
  const lines = text.split('\n');
  let requests = 0;
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const path = `line ${i + 1}`;
    const parsed = parseJson(line, maxDepth, path);
    const read = parsed.ok ? readRequest(parsed.value, `${path}, `, into) : parsed;
    if (read.ok) requests += 1;
    // A file whose first line is none is no file of lines.
    else if (requests === 0) return fail(parsed.ok || read.problem.kind === 'limit' ? read.problem : problem);
    else reject(into, read.problem.path, read.problem.message);
  }
  return requests < 1 ? fail(problem) : ok(into);
}

/** `prefix` of every path in it: empty, `line 3, ` or `$[3].`. */
function readRequest(value: FileJson, prefix: string, into: Collected): Result<Collected, ImportProblem> {
  const path = prefix === '' ? '$' : prefix.replace(/(, |\.)$/, '');
  if (!isObject(value))
    return fail({ kind: 'malformed', path, message: 'no OTLP request: an object is one' });
  const name = ['resourceSpans', 'resource_spans', 'batches'].find((key) => Object.hasOwn(value, key));
  const others = SIGNALS.filter((key) => Object.hasOwn(value, key));
  if (name === undefined && (others.length > 0 || Object.keys(value).length > 0)) {
    return fail({
      kind: 'malformed',
      path,
      message:
        others.length > 0
          ? `holds ${others.join(' and ')} and no resourceSpans: runs are made of spans alone`
          : 'no OTLP trace request: it has no resourceSpans',
    });
  }
  for (const key of others) into.warnings.push(notRead(value, key, prefix));
  const list = name === undefined ? [] : value[name];
  if (list === null) return ok(into);
  if (!isList(list))
    return fail({ kind: 'malformed', path: `${prefix}${name}`, message: 'resourceSpans is a list' });
  for (const [i, item] of list.entries()) readResource(item, `${prefix}${name}[${i}]`, into);
  return ok(into);
}

function notRead(value: Members, key: (typeof SIGNALS)[number], prefix: string): ImportWarning {
  const list = value[key];
  const records = isList(list) ? list.flatMap((one) => listsIn(one, 'scopeLogs', 'logRecords')).length : 0;
  return {
    path: `${prefix}${key}`,
    message:
      key === 'resourceLogs'
        ? `not read: ${records} log records; runs are made of spans alone`
        : 'not read: runs are made of spans alone',
  };
}

const listsIn = (value: FileJson, outer: string, inner: string): readonly FileJson[] =>
  isObject(value) && isList(value[outer])
    ? value[outer].flatMap((one) => (isObject(one) && isList(one[inner]) ? one[inner] : []))
    : [];

/** The member under the first of these names that is there. */
function pick(
  value: Members,
  names: readonly string[],
): { readonly name: string; readonly value: FileJson } | undefined {
  for (const name of names) {
    const member = value[name];
    if (member !== undefined && member !== null) return { name, value: member };
  }
  return undefined;
}

const SCOPE_SPANS = [
  'scopeSpans',
  'scope_spans',
  'instrumentationLibrarySpans',
  'instrumentation_library_spans',
];
const SCOPE_NAMES = ['scope', 'instrumentationLibrary', 'instrumentation_library'];

function readResource(value: FileJson, path: string, into: Collected): void {
  if (!isObject(value)) {
    reject(into, path, 'is no object');
    return;
  }
  const resource = objectIn(value, ['resource'], path, into);
  const scopes = pick(value, SCOPE_SPANS);
  if (scopes === undefined) return;
  if (!isList(scopes.value)) {
    reject(into, `${path}.${scopes.name}`, 'is no list');
    return;
  }
  const resourceSpans = rest(value, [...SCOPE_SPANS, 'resource']);
  for (const [i, one] of scopes.value.entries())
    readScope(one, { resource, resourceSpans }, `${path}.${scopes.name}[${i}]`, into);
}

function readScope(
  value: FileJson,
  outer: { readonly resource: Members; readonly resourceSpans: Members },
  path: string,
  into: Collected,
): void {
  if (!isObject(value)) {
    reject(into, path, 'is no object');
    return;
  }
  const spans = pick(value, ['spans']);
  if (spans === undefined) return;
  if (!isList(spans.value)) {
    reject(into, `${path}.spans`, 'is no list');
    return;
  }
  const scope = objectIn(value, SCOPE_NAMES, path, into);
  const around = surroundings(
    { ...outer, scope, scopeSpans: rest(value, ['spans', ...SCOPE_NAMES]) },
    path,
    into,
  );
  for (const [i, span] of spans.value.entries()) {
    const at = `${path}.spans[${i}]`;
    if (isObject(span)) take(span, around, at, into);
    else reject(into, at, 'is no object');
  }
}

function objectIn(value: Members, names: readonly string[], path: string, into: Collected): Members {
  const found = pick(value, names);
  if (found === undefined) return {};
  if (isObject(found.value)) return found.value;
  into.warnings.push({ path: `${path}.${found.name}`, message: 'is no object; left out' });
  return {};
}

/** Members that have no other place, in code-unit order, an empty address of a schema left out. */
function rest(value: Members, without: readonly string[]): Members {
  const left = Object.entries(value)
    .map(([key, inner]) => [key === 'schema_url' ? 'schemaUrl' : key, inner] as const)
    .filter(
      ([key, inner]) => !without.includes(key) && !(key === 'schemaUrl' && (inner === '' || inner === null)),
    );
  return Object.fromEntries(left.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
