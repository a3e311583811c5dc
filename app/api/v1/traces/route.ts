import type { z } from 'zod';
import { fail } from '@/lib/core/shared/result';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { readUpload, type UploadBodyProblem } from '@/lib/server/upload-body';
import { type ImportTracesProblem, importTraces, type Upload } from '@/lib/usecases/import-traces';
import type { UploadAnswer } from '@/lib/wire/v1/export';
import { tracesQuery } from '@/lib/wire/v1/queries';

type Problem = UploadBodyProblem | ImportTracesProblem;

/** Upload of traces in any known format, plain or gzip; detected by content, or named by `?format=`. */
export const POST = endpoint<undefined, z.output<typeof tracesQuery>, undefined, Upload, Problem>({
  query: tracesQuery,
  run: async (deps, { query, request }) => {
    const { stop, done } = deps.inFlight.lasting(request.signal);
    try {
      const turn = await deps.uploadTurns.take(stop.signal);
      if (turn === undefined) return fail({ kind: 'client-gone' });
      try {
        const file = await readUpload(request, deps.uploads);
        if (!file.ok) return file;
        return await importTraces(
          { ...deps, maxImportDepth: deps.uploads.jsonDepth },
          {
            bytes: file.value,
            contentType: request.header('content-type') ?? '',
            ...(query.format === undefined ? {} : { format: query.format }),
          },
        );
      } finally {
        turn.end();
      }
    } finally {
      done();
    }
  },
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
