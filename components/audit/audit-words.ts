import { betweenWords } from '@/components/runs/filters';
import { moment } from '@/components/ui/format';
import type { GlyphName } from '@/components/ui/glyph';
import type { MarkView } from '@/components/ui/mark';
import type { Zone } from '@/components/ui/zone';
import type { AuditRow } from '@/lib/client/audit-queries';
import type { AuditView } from '@/lib/client/url-state';

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

/** How an order stands. One that has not ended may still wait for a worker: the list does not know. */
export const outcomeView = {
  running: { tone: 'active', glyph: 's-queued', word: 'Accepted' },
  done: { tone: 'ok', glyph: 's-completed', word: 'Done' },
  refused: { tone: 'bad', glyph: 's-failed', word: 'Refused' },
  withdrawn: { tone: 'neutral', glyph: 's-cancelled', word: 'Withdrawn' },
} as const satisfies Record<NonNullable<AuditRow['outcome']>, MarkView>;

/** Whoever knew no token has no name. */
export const actorWords = ({ actor }: Pick<AuditRow, 'actor'>): string => (actor === '' ? 'unknown' : actor);

/** Instants in what the console wrote, as all times are shown. */
const timesIn = (text: string, zone: Zone): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (iso) => {
    const at = Date.parse(iso);
    return Number.isNaN(at) ? iso : moment(at, zone);
  });

/** What was said with it: the order's reason, else what is known of the deed. */
export const reasonWords = ({ reason, detail }: Pick<AuditRow, 'reason' | 'detail'>, zone: Zone): string =>
  reason === null || reason === '' ? timesIn(detail ?? '', zone) : reason;

/** What is known of an order's end. */
export const endWords = ({ outcome, detail }: Pick<AuditRow, 'outcome' | 'detail'>, zone: Zone): string =>
  outcome === 'running' ? 'It has not ended' : timesIn(detail ?? '', zone);

/** Every part of the filter, search included: what an empty list names. */
export function auditFilterWords(view: AuditView, zone: Zone): readonly string[] {
  const between = betweenWords(view.from, view.to, zone);
  return [
    ...(view.actor.length === 0
      ? []
      : [`Actor is ${view.actor.map((actor) => actorWords({ actor })).join(' or ')}`]),
    ...(view.action.length === 0
      ? []
      : [`Action is ${view.action.map((action) => actionView[action].word).join(' or ')}`]),
    ...(view.run === '' ? [] : [`Run is ${view.run}`]),
    ...(between === '' ? [] : [`Time ${between}`]),
    ...(view.q === '' ? [] : [`Search “${view.q}”`]),
  ];
}
