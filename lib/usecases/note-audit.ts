import type { RunId } from '@/lib/core/events/ids';
import type { DoorAction } from '@/lib/core/journal/audit';
import type { UsecaseDeps } from './deps';

/** Something that is no order and still is somebody's deed: `detail` says what is known of it, never a secret. */
export const noteAudit = (
  { store, actor }: Pick<UsecaseDeps, 'store' | 'actor'>,
  deed: { readonly action: DoorAction; readonly runId?: RunId; readonly detail?: string },
): Promise<void> => store.audit.add({ at: store.clock.now(), actor, ...deed });
