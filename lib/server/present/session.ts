import type { SessionAnswer } from '@/lib/wire/v1/session';
import type { Gate } from '../gate';
import type { Principal } from '../principal';

/** Whom the console takes a request to come from. */
export function presentSession(
  { open }: Pick<Gate, 'open'>,
  principal: Principal | undefined,
): SessionAnswer {
  if (principal === undefined) return { signIn: !open, kind: null, actor: null, role: null };
  if (principal.kind === 'share') return { signIn: !open, kind: 'share', actor: null, role: null };
  const { kind, actor, role } = principal;
  return { signIn: !open, kind, actor, role };
}
