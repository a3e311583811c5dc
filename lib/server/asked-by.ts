import type { Deps } from './deps';
import { actorOf, barredFrom, type Principal } from './principal';

/** The root's content for one request: who asks, and what it may not do. */
export function askedBy(ready: Deps, principal: Principal | undefined): Deps {
  if (principal === undefined || principal.kind === 'local') return ready;
  const barred = barredFrom(principal);
  return { ...ready, actor: actorOf(principal), ...(barred !== undefined && { barred }) };
}
