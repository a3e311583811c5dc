import { ok, type Result } from '@/lib/core/shared/result';
import { isStorageFull } from '@/lib/server/container';
import type { Deps } from '@/lib/server/deps';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import type { Incoming, Outgoing } from '@/lib/server/http';
import {
  exportAnswer,
  type OtlpEncoding,
  otlpEncoding,
  otlpTypes,
  sentenceOf,
  statusAnswer,
} from '@/lib/server/otlp-answer';
import { problemBody } from '@/lib/server/problems';
import { type UploadBodyProblem, withUpload } from '@/lib/server/upload-body';
import { importTraces } from '@/lib/usecases/import-traces';
import type { ImportTracesProblem, Upload } from '@/lib/usecases/upload';

const FORMAT = 'otlp';
/** Warnings in one answer: exporters write them to a log. */
const MOST_TOLD = 10;
/** Exporters give up after 10 s unless told otherwise: told to wait for longer, they would not send again at all. */
const FULL_RETRY_SECONDS = 5;

/** The OTLP/HTTP receiver. Every span is kept, whoever made it: a trace is a run. */
export const POST = endpoint<undefined, undefined, undefined, Outgoing, never>({
  doc: {
    id: 'exportSpans',
    tag: 'Traces',
    summary: 'Receive spans (OTLP/HTTP)',
    description:
      'What an OpenTelemetry exporter sends: `ExportTraceServiceRequest` as JSON or protobuf, as it is or gzipped. The answer is in the encoding of the request: `ExportTraceServiceResponse`, whose `partialSuccess` names spans that could not be read or stored; refusals are a `google.rpc.Status`. Every trace is a run, visible from its first span; spans come in any order and over any time, and the same span again changes nothing. 429 and 503 with `Retry-After` ask to send the same again.',
    // Told as 503: an exporter sends it again after that, and not after 507. All others as a Status.
    never: [
      'storage-full',
      'invalid-request',
      'foreign-address',
      'foreign-host',
      'cross-site',
      'not-signed-in',
      'needs-role',
      'link-reads-one-run',
      'bad-token',
      'too-many-attempts',
      'internal',
    ],
    body: { types: otlpTypes, says: '`ExportTraceServiceRequest`.' },
    answers: {
      200: { says: 'Taken; `partialSuccess` where something of it was not.', types: otlpTypes },
      400: { says: 'Not what its content type says: `google.rpc.Status`.', types: otlpTypes },
      401: { says: 'No token, or a wrong one: `google.rpc.Status`.', types: otlpTypes },
      403: {
        says: 'The token may only look, or the request may not come here: `google.rpc.Status`.',
        types: otlpTypes,
      },
      408: { says: 'The body came too slowly: `google.rpc.Status`.', types: otlpTypes },
      413: { says: 'Larger than this console takes: `google.rpc.Status`.', types: otlpTypes },
      415: { says: 'Of another content type or encoding: `google.rpc.Status`.', types: otlpTypes },
      429: { says: 'Too many wrong tokens came from this address: `google.rpc.Status`.', types: otlpTypes },
      500: { says: 'The console failed: `google.rpc.Status`.', types: otlpTypes },
      503: { says: 'No room now; send it again: `google.rpc.Status`.', types: otlpTypes },
    },
  },
  run: async (deps, { request }) => {
    const encoding = otlpEncoding(request);
    if (encoding === undefined)
      return ok(statusAnswer(undefined, 415, `The content type must be one of: ${otlpTypes.join(', ')}.`));
    try {
      const taken = await take(deps, request, encoding);
      return ok(
        taken.ok ? exportAnswer(encoding, partialSuccess(taken.value)) : refused(encoding, taken.problem),
      );
    } catch (error) {
      // What is not taken for want of room is not lost: an exporter sends it again after 503, and not after 507.
      if (!isStorageFull(error)) {
        deps.log.error({ err: error }, 'spans could not be taken');
        return ok(statusAnswer(encoding, 500, 'The console failed; its log has the details.'));
      }
      return ok(
        statusAnswer(
          encoding,
          503,
          'There is no room left where the console keeps its database.',
          FULL_RETRY_SECONDS,
        ),
      );
    }
  },
  status: { ok: 200 },
  answer: (answer) => answer,
});

const nothing: Upload = { runs: [], warnings: [], created: false, rejected: 0 };

const take = (
  deps: Deps,
  request: Incoming,
  encoding: OtlpEncoding,
): Promise<Result<Upload, UploadBodyProblem | ImportTracesProblem>> =>
  withUpload(deps, request, async (bytes) =>
    // A message without any field has no bytes.
    encoding === 'protobuf' && bytes.byteLength === 0
      ? ok(nothing)
      : importTraces(
          { ...deps, maxImportDepth: deps.uploads.jsonDepth },
          { bytes, contentType: request.header('content-type') ?? '', format: FORMAT, asTheyCome: true },
        ),
  );

/** What exporters log: what was rejected, and what only needs saying. */
function partialSuccess({ rejected, warnings }: Upload) {
  if (rejected === 0 && warnings.length === 0) return undefined;
  const told = warnings.slice(0, MOST_TOLD).map(({ path, message }) => `${path}: ${message}`);
  const more = warnings.length > MOST_TOLD ? [`and ${warnings.length - MOST_TOLD} more`] : [];
  return { rejectedSpans: rejected, errorMessage: [...told, ...more].join('; ') };
}

function refused(encoding: OtlpEncoding, problem: UploadBodyProblem | ImportTracesProblem): Outgoing {
  const status = statusOf(problem);
  const retryAfter = 'retryAfterSeconds' in problem ? problem.retryAfterSeconds : undefined;
  return statusAnswer(encoding, status, sentenceOf(problemBody(problem, status)), retryAfter);
}

function statusOf(problem: UploadBodyProblem | ImportTracesProblem): number {
  switch (problem.kind) {
    case 'unzips-too-far':
      return 413;
    case 'unknown-format':
      return 415;
    case 'malformed':
    case 'differs':
    case 'home-here':
      return 400;
    default:
      return edgeStatus[problem.kind];
  }
}
