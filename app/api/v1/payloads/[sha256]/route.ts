import type { Codec, PayloadRef } from '@/lib/core/events/payload';
import { fail, type Result } from '@/lib/core/shared/result';
import { endpoint, rawBytes } from '@/lib/server/endpoint';
import { type EdgeProblem, mediaType } from '@/lib/server/http';
import { payloadAnswer } from '@/lib/server/payload-answer';
import { getPayload } from '@/lib/usecases/get-payload';
import type { BadPayload } from '@/lib/usecases/problems';
import { putPayload } from '@/lib/usecases/put-payload';
import { payloadParams, payloadQuery } from '@/lib/wire/v1/queries';

type Unreadable = Extract<EdgeProblem, { readonly kind: 'unsupported-media-type' }>;

/** The bytes, as `?codec=` reads them: a reference says which. */
export const GET = endpoint({
  params: payloadParams,
  query: payloadQuery,
  run: (deps, { params, query }) => getPayload(deps, { sha256: params.sha256, codec: query.codec }),
  status: { ok: 200, 'not-found': 404, 'bad-payload': 400 },
  answer: payloadAnswer,
});

/** The body as it is; its codec by `?codec=`, else by content type. */
export const PUT = endpoint({
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
