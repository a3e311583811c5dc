import { randomBytes } from 'node:crypto';
import { epochMs } from '@/lib/core/events/ids';
import { ok } from '@/lib/core/shared/result';
import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentShare } from '@/lib/server/present/share';
import { listShares } from '@/lib/usecases/list-shares';
import { makeShare } from '@/lib/usecases/make-share';
import { runParams } from '@/lib/wire/v1/queries';
import { shareBody, shareMade, sharesAnswer } from '@/lib/wire/v1/shares';

/** 192 bits. */
const newSecret = () => randomBytes(24).toString('base64url');

export const GET = endpoint({
  doc: {
    id: 'listShares',
    tag: 'Sharing',
    summary: 'The links to a run',
    description: 'Newest first, those that are over included. Their secrets are not kept, so none is told.',
    answers: { 200: { says: 'The links.', json: sharesAnswer } },
  },
  params: runParams,
  run: (deps, { params }) => listShares(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: (views) => whole(views.map(presentShare)),
});

export const POST = endpoint({
  doc: {
    id: 'makeShare',
    tag: 'Sharing',
    summary: 'Make a read-only link to a run',
    description:
      'Whoever has the link sees this one run, without signing in, until it expires or is revoked: nothing else, and no order. `path` holds its secret and is told this once. `expiresIn` (such as `90m`, `24h`, `7d`) or `expiresAt`, at most 90 days; neither means seven days.',
    answers: { 201: { says: 'The link was made.', json: shareMade } },
    body: { example: { expiresIn: '7d' } },
  },
  params: runParams,
  body: shareBody,
  run: async (deps, { params, body }) => {
    const secret = newSecret();
    const made = await makeShare(deps, {
      runId: params.runId,
      secret,
      ...(body.expiresIn !== undefined && { until: { inMs: body.expiresIn } }),
      ...(body.expiresAt !== undefined && { until: { at: epochMs(Date.parse(body.expiresAt)) } }),
    });
    return made.ok ? ok({ share: made.value, secret }) : made;
  },
  status: { ok: 201, 'not-found': 404, 'bad-expiry': 422 },
  present: ({ share, secret }) => ({
    ...presentShare({ share, status: 'open' }),
    path: `/shared/${secret}`,
  }),
});
