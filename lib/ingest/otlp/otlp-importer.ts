import type { RunId } from '@/lib/core/events/ids';
import { ok, type Result } from '@/lib/core/shared/result';
import { firstKeys } from '@/lib/ingest/json';
import type {
  Assembled,
  ImportedPart,
  ImportProblem,
  ImportTools,
  ImportWarning,
  PartsImporter,
  SplitParts,
} from '@/lib/usecases/ports';
import { ID, runOf } from './journal';
import { type Span, spanOf } from './span';
import { splitJson } from './split-json';
import { splitProtobuf } from './split-protobuf';

const KEYS: ReadonlySet<string> = new Set([
  'resourceSpans',
  'resource_spans',
  'batches',
  'resourceLogs',
  'resourceMetrics',
  'resourceProfiles',
]);

/** OTLP traces, JSON and protobuf: what `/v1/traces` is sent, and what the Collector and Tempo write to files. */
export const otlpImporter: PartsImporter = {
  kind: 'parts',
  id: ID,
  title: 'OTLP traces (JSON, NDJSON or protobuf)',
  recognises(head, contentType) {
    return (
      isProtobuf(contentType) || firstKeys(head).keys.some((key) => KEYS.has(key)) || looksLikeProtobuf(head)
    );
  },
  split,
  assemble,
};

const isProtobuf = (contentType: string): boolean =>
  /^application\/(x-|vnd\.google\.)?protobuf\b/i.test(contentType.trim());

/**
 * A request begins with its first resource, tag 0x0A, and what is in that is tagged 0x12 or 0x0A. A line feed before
 * other text is no such thing: text has no such control characters.
 */
const looksLikeProtobuf = (head: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the tags
  /^\n[^\n]{0,5}[\n\u0012]/.test(head) && head.includes('\u0012') && !/^\s*[[{]/.test(head);

function split(
  bytes: Uint8Array,
  contentType: string,
  { maxDepth }: ImportTools,
): Result<SplitParts, ImportProblem> {
  const read = isProtobuf(contentType) || !startsAsJson(bytes) ? splitProtobuf : splitJson;
  const collected = read(bytes, maxDepth);
  if (!collected.ok) return collected;
  const { parts, warnings, rejected } = collected.value;
  return ok({ parts, warnings, rejected });
}

/** The first character that is neither white space nor a byte order mark opens an object or an array. */
function startsAsJson(bytes: Uint8Array): boolean {
  for (const byte of bytes.subarray(0, 4_096)) {
    if (byte === 0x7b || byte === 0x5b) return true;
    const isBlank = byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
    const isMark = byte === 0xef || byte === 0xbb || byte === 0xbf;
    if (!isBlank && !isMark) return false;
  }
  return false;
}

function assemble(
  runId: RunId,
  parts: readonly Pick<ImportedPart, 'id' | 'body'>[],
  tools: ImportTools,
): Assembled {
  const warnings: ImportWarning[] = [];
  const spans = new Map<string, Span>();
  for (const { id, body } of parts.toSorted(comparePart)) {
    const span = spans.has(id) ? undefined : spanOf(id, body, tools.maxDepth);
    if (span !== undefined) spans.set(id, span);
    else
      warnings.push({
        path: `span ${id}`,
        message: spans.has(id) ? 'skipped: another span has this id' : 'skipped: it cannot be read',
      });
  }
  const run = runOf(runId, [...spans.values()], tools, (warning) => warnings.push(warning));
  return { run, warnings };
}

function comparePart(
  left: Pick<ImportedPart, 'id' | 'body'>,
  right: Pick<ImportedPart, 'id' | 'body'>,
): number {
  if (left.id !== right.id) return left.id < right.id ? -1 : 1;
  return Buffer.compare(left.body, right.body);
}
