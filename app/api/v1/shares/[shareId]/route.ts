import { endpoint } from '@/lib/server/endpoint';
import { presentShare } from '@/lib/server/present/share';
import { hasRole } from '@/lib/server/principal';
import { revokeShare } from '@/lib/usecases/revoke-share';
import { shareParams, shareRow } from '@/lib/wire/v1/shares';

export const DELETE = endpoint({
  doc: {
    id: 'revokeShare',
    tag: 'Sharing',
    summary: 'Revoke a link',
    description:
      'It opens nothing from then on, and pages that are open are told. Who made it may, and whoever has the role admin. Again: nothing changes.',
    answers: { 200: { says: 'It is revoked.', json: shareRow } },
  },
  params: shareParams,
  run: (deps, { params, principal }) =>
    revokeShare(deps, { shareId: params.shareId, anyones: hasRole(principal, 'admin') }),
  status: { ok: 200, 'not-found': 404, 'not-yours': 403 },
  present: presentShare,
});
