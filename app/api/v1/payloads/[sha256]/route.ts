import type { RunId } from '@/lib/core/events/ids';
import type { Codec, PayloadRef } from '@/lib/core/events/payload';
import { fail, type Result } from '@/lib/core/shared/result';
import { endpoint, rawBytes } from '@/lib/server/endpoint';
import { type EdgeProblem, mediaType } from '@/lib/server/http';
import { payloadAnswer } from '@/lib/server/payload-answer';
import { getPayload } from '@/lib/usecases/get-payload';
import type { BadPayload } from '@/lib/usecases/problems';
import { putPayload } from '@/lib/usecases/put-payload';
import { refersTo } from '@/lib/usecases/refers-to';
import { payloadRef } from '@/lib/wire/v1/common';
import { payloadParams, payloadQuery } from '@/lib/wire/v1/queries';

type Unreadable = Extract<EdgeProblem, { readonly kind: 'unsupported-media-type' }>;

const PAYLOAD_TYPES = ['application/json', 'text/plain', 'application/octet-stream'];

/** The bytes, as `?codec=` reads them: a reference says which. */
export const GET = endpoint({
  doc: {
    id: 'getPayload',
    tag: 'Payloads',
    summary: 'A value by its digest',
    description:
      'Its bytes, as `codec` reads them; a reference says which. They never change, so a copy is good for ever.',
    headers: {
      Range: 'One range of bytes.',
      'If-None-Match': 'The digest in quotes: a copy that is there already.',
    },
    answers: {
      200: { says: 'All of it.', types: PAYLOAD_TYPES, headers: { ETag: 'The digest in quotes.' } },
      206: {
        says: 'The range.',
        types: PAYLOAD_TYPES,
        headers: { 'Content-Range': 'Which bytes, and of how many.' },
      },
      304: { says: 'The copy is good.', empty: true },
    },
    problems: { 'range-not-satisfiable': 416 },
  },
  params: payloadParams,
  query: payloadQuery,
  // Below, by what the run refers to.
  shared: (_params, _query, runId) => runId,
  run: async (deps, { params, query, principal }) => {
    if (principal.kind === 'share' && !(await refersTo(deps, principal.runId as RunId, params.sha256)))
      return fail({ kind: 'not-found', detail: 'The run refers to no such payload.' } as const);
    return getPayload(deps, { sha256: params.sha256, codec: query.codec });
  },
  status: { ok: 200, 'not-found': 404, 'bad-payload': 400 },
  answer: payloadAnswer,
});

/** The body as it is; its codec by `?codec=`, else by content type. */
export const PUT = endpoint({
  doc: {
    id: 'putPayload',
    tag: 'Payloads',
    summary: 'Store a value',
    description:
      'Its codec is named by `codec`, else by content type. Once more is no change; what no event refers to within 24 h is swept.',
    body: { types: PAYLOAD_TYPES, says: 'The bytes whose SHA-256 the address names.' },
    answers: { 200: { says: 'It is stored.', json: payloadRef } },
  },
  params: payloadParams,
  query: payloadQuery,
  body: rawBytes,
  run: async (
    deps,
    { params, query, body, request },
  ): Promise<Result<PayloadRef, BadPayload | Unreadable>> => {
    const type = mediaType(request.header('content-type'));
    const codec = query.codec ?? codecOf[type];
    if (codec === undefined) {
      return fail({ kind: 'unsupported-media-type', contentType: type, accepted: Object.keys(codecOf) });
    }
    return putPayload(deps, { sha256: params.sha256, codec, body });
  },
  status: { ok: 200, 'bad-payload': 400, 'unsupported-media-type': 415 },
});

const codecOf: Readonly<Record<string, Codec | undefined>> = {
  'application/json': 'json',
  'text/plain': 'text',
  'application/octet-stream': 'bytes',
};
