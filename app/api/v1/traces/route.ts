import type { z } from 'zod';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { type UploadBodyProblem, withUpload } from '@/lib/server/upload-body';
import { importTraces } from '@/lib/usecases/import-traces';
import type { ImportTracesProblem, Upload } from '@/lib/usecases/upload';
import type { UploadAnswer } from '@/lib/wire/v1/export';
import { uploadAnswer } from '@/lib/wire/v1/export';
import { tracesQuery } from '@/lib/wire/v1/queries';

type Problem = UploadBodyProblem | ImportTracesProblem;

/** Upload of traces in any known format, plain or gzip; detected by content, or named by `?format=`. */
export const POST = endpoint<undefined, z.output<typeof tracesQuery>, undefined, Upload, Problem>({
  doc: {
    id: 'uploadTraces',
    tag: 'Traces',
    summary: 'Upload traces',
    description:
      'A file of any supported format, as it is or gzipped (by `Content-Encoding` or by its first bytes). The format is detected by content, or named by `format`. The same file again answers 200 with the same ids and doubles nothing; what could not be read is told in `warnings`, each with its place. Uploads have limits of their own: RERAIL_MAX_UPLOAD_BYTES and its neighbours.',
    body: {
      types: [
        'application/json',
        'application/x-ndjson',
        'application/x-protobuf',
        'application/gzip',
        'application/octet-stream',
      ],
      says: 'The file. Its content says what it is; the content type is a hint.',
    },
    answers: {
      200: { says: 'Every run was known before.', json: uploadAnswer },
      201: { says: 'At least one run is new.', json: uploadAnswer },
    },
  },
  query: tracesQuery,
  run: (deps, { query, request }) =>
    withUpload(deps, request, (bytes) =>
      importTraces(
        { ...deps, maxImportDepth: deps.uploads.jsonDepth },
        {
          bytes,
          contentType: request.header('content-type') ?? '',
          ...(query.format === undefined ? {} : { format: query.format }),
        },
      ),
    ),
  status: {
    ok: ({ created }) => (created ? 201 : 200),
    ...edgeStatus,
    'unzips-too-far': 413,
    'unknown-format': 415,
    malformed: 400,
    differs: 409,
    'home-here': 409,
  },
  present: answerOf,
});

function answerOf({ runs, warnings }: Upload): UploadAnswer {
  return {
    runs: runs.map(({ runId, ...run }) => ({ id: runId, ...run })),
    warnings: warnings.map(({ path, message }) => ({ path, message })),
  };
}
