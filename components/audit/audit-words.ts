import type { GlyphName } from '@/components/ui/glyph';
import type { MarkView } from '@/components/ui/mark';
import type { AuditRow } from '@/lib/client/audit-queries';

/** What each deed is called, and drawn with. */
export const actionView = {
  resume: { glyph: 'resume', word: 'Resume' },
  rewind: { glyph: 'rewind', word: 'Rewind' },
  fork: { glyph: 'fork', word: 'Fork' },
  replay: { glyph: 'replay', word: 'Replay' },
  verify: { glyph: 'probe', word: 'Verify' },
  decide: { glyph: 'd-decide', word: 'Decide' },
  answer: { glyph: 'k-human', word: 'Answer' },
  pause: { glyph: 's-paused', word: 'Pause' },
  cancel: { glyph: 's-cancelled', word: 'Cancel' },
  'sign-in': { glyph: 'k-human', word: 'Sign-in' },
  'sign-in-refused': { glyph: 'lock', word: 'Sign-in refused' },
  'sign-out': { glyph: 'exit', word: 'Sign-out' },
  'link-made': { glyph: 'link', word: 'Link made' },
  'link-revoked': { glyph: 'link', word: 'Link revoked' },
} as const satisfies Record<AuditRow['action'], { readonly glyph: GlyphName; readonly word: string }>;

/** How an order ended. */
export const outcomeView = {
  running: { tone: 'active', glyph: 's-running', word: 'Running' },
  done: { tone: 'ok', glyph: 's-completed', word: 'Done' },
  refused: { tone: 'bad', glyph: 's-failed', word: 'Refused' },
  withdrawn: { tone: 'neutral', glyph: 's-cancelled', word: 'Withdrawn' },
} as const satisfies Record<NonNullable<AuditRow['outcome']>, MarkView>;

/** Whoever knew no token has no name. */
export const actorWords = ({ actor }: Pick<AuditRow, 'actor'>): string => (actor === '' ? 'unknown' : actor);

/** What was said with it: the order's reason, else what is known of the deed. */
export const reasonWords = ({ reason, detail }: Pick<AuditRow, 'reason' | 'detail'>): string =>
  reason === null || reason === '' ? (detail ?? '') : reason;
