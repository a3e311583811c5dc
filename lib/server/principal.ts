/** What a caller may do: a viewer reads, an operator gives orders too, an admin sees every sign-in and ends others' links. */
export type Role = 'viewer' | 'operator' | 'admin';

/** Who a request comes from. `actor` is the name that journal and audit show. */
export type Principal =
  /** Whoever sits at this machine, where no token is set. */
  | { readonly kind: 'local'; readonly actor: string; readonly role: 'admin' }
  /** A program, by its bearer token. */
  | { readonly kind: 'token'; readonly actor: string; readonly role: Role }
  /** Somebody who signed in, by the cookie. */
  | { readonly kind: 'person'; readonly actor: string; readonly role: Role }
  /** Whoever has the link: reads one run. */
  | { readonly kind: 'share'; readonly shareId: string; readonly runId: string };

const ranks = { viewer: 0, operator: 1, admin: 2 } as const satisfies Record<Role, number>;

/** Whether a role includes another. */
export const includes = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed];

/** The role that a method needs where its endpoint says nothing else. */
export const neededFor = (method: string): Role =>
  method === 'GET' || method === 'HEAD' ? 'viewer' : 'operator';

/** Whether the principal has at least this role; the holder of a link has none. */
export const hasRole = (principal: Principal, needed: Role): boolean =>
  principal.kind !== 'share' && includes(principal.role, needed);

/** The name for journal and audit. */
export const actorOf = (principal: Principal): string =>
  principal.kind === 'share' ? `link ${principal.shareId}` : principal.actor;

/** Why this principal may give no order; undefined where it may. */
export function barredFrom(principal: Principal): string | undefined {
  if (principal.kind === 'share') return 'A shared link only shows the run.';
  return includes(principal.role, 'operator')
    ? undefined
    : `This needs the role operator; ${principal.actor} is signed in as ${principal.role}.`;
}
