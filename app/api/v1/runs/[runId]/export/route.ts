import { z } from 'zod';
import { endpoint } from '@/lib/server/endpoint';
import { htmlExport, nativeExport } from '@/lib/server/export-answer';
import { runParams } from '@/lib/wire/v1/queries';

/**
 * The run as one file, streamed. `as=html` is a page that shows it without a console. Else `POST /api/v1/traces` elsewhere makes the identical run of it, as a mirror.
 */
export const GET = endpoint({
  doc: {
    id: 'exportRun',
    tag: 'Runs',
    summary: 'The run as one file',
    description:
      'NDJSON: a header, payloads and events in order, a footer with a digest over all of it. Uploaded to another console it is the identical run, as a mirror. With `as=html` it is one page that shows the run, read-only and without a network: values of more than 8 MB, and of more than 128 MB in all, are named in it as left out.',
    answers: {
      200: {
        says: 'The file, streamed.',
        types: ['application/x-ndjson', 'text/html'],
        headers: { 'Content-Disposition': 'A name for the file.' },
      },
    },
  },
  params: runParams,
  query: z.strictObject({ as: z.enum(['native', 'html']).default('native') }),
  run: (deps, { params, query, request }) =>
    query.as === 'html'
      ? htmlExport(deps, params.runId, request.header('host'))
      : nativeExport(deps, params.runId),
  status: { ok: 200, 'not-found': 404, 'copy-not-built': 503 },
  answer: ({ run, file, contentType, ending }) => ({
    status: 200,
    headers: {
      'content-type': contentType,
      'cache-control': 'no-store',
      // Opened here it would be a page of the console's own origin.
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(run.runId)}.${ending}`,
      'content-security-policy': "default-src 'none'; sandbox",
    },
    body: file,
  }),
});
