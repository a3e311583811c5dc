import { openEndpoint } from '@/lib/server/endpoint';
import { presentShared } from '@/lib/server/present/share';
import { openShare } from '@/lib/usecases/open-share';
import { sharedAnswer, sharedParams } from '@/lib/wire/v1/shares';

export const GET = openEndpoint({
  doc: {
    id: 'getShared',
    tag: 'Sharing',
    summary: 'What a link opens',
    description: 'Of which run it is, who shared it, and until when. The secret is all that is asked for.',
    answers: { 200: { says: 'The link stands.', json: sharedAnswer } },
  },
  params: sharedParams,
  run: (deps, { params }) => openShare(deps, params.secret),
  status: { ok: 200, 'no-such-link': 404, 'link-expired': 410, 'link-revoked': 410 },
  present: presentShared,
});
