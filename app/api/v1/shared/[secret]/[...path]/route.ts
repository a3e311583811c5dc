import { z } from 'zod';
import { openEndpoint } from '@/lib/server/endpoint';
import { sharedRead } from '@/lib/server/shared-read';
import { sharedParams } from '@/lib/wire/v1/shares';

export const dynamic = 'force-dynamic';

export const GET = openEndpoint({
  doc: {
    id: 'readShared',
    tag: 'Sharing',
    summary: 'Read the run of a link',
    description:
      'Answers as `GET /api/v1/{path}` does, to whoever has the link: the reads of that one run, the values that it refers to, its machine, and its stream. Everything else is refused.',
    answers: {
      200: { says: 'As the address that it stands for.', types: ['application/json', 'text/event-stream'] },
    },
  },
  params: sharedParams.extend({ path: z.string() }),
  query: z.looseObject({}),
  run: (deps, { params, request }) => sharedRead(deps, request, params),
  status: { ok: 200, 'no-such-link': 404, 'link-expired': 410, 'link-revoked': 410 },
  answer: (answer) => answer,
});
