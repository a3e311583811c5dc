import type { GlyphName } from '@/components/ui/glyph';
import type { MarkView } from '@/components/ui/mark';
import type { Disposition, EffectRow, RunSummary, StepRow, StepStatus } from '@/lib/client/api-types';
import type { AttemptFailure } from '@/lib/core/events/run-event';

/* Domain words to glyph, word and tone: total maps, so that a new word does not compile until it has a face. */

export const runStatusView = {
  queued: { tone: 'neutral', glyph: 's-queued', word: 'Queued' },
  running: { tone: 'active', glyph: 's-running', word: 'Running' },
  waiting: { tone: 'attention', glyph: 's-waiting', word: 'Waiting' },
  paused: { tone: 'attention', glyph: 's-paused', word: 'Paused' },
  interrupted: { tone: 'bad', glyph: 's-interrupted', word: 'Interrupted' },
  failed: { tone: 'bad', glyph: 's-failed', word: 'Failed' },
  completed: { tone: 'ok', glyph: 's-completed', word: 'Completed' },
  cancelled: { tone: 'neutral', glyph: 's-cancelled', word: 'Cancelled' },
  unknown: { tone: 'neutral', glyph: 's-unknown', word: 'Unknown' },
} as const satisfies Record<RunSummary['status'], MarkView>;

/** Badges beside the status. `in-doubt` is shown with its count elsewhere. */
export const badgeView = {
  replaying: { tone: 'active', glyph: 's-replaying', word: 'Replaying' },
  diverged: { tone: 'bad', glyph: 's-diverged', word: 'Diverged' },
  fork: { tone: 'neutral', glyph: 'fork', word: 'Fork' },
  replay: { tone: 'neutral', glyph: 'replay', word: 'Replay' },
  mirror: { tone: 'neutral', glyph: 'copy', word: 'Mirror' },
  'in-doubt': { tone: 'attention', glyph: 's-doubt', word: 'In doubt' },
  'ran-twice': { tone: 'bad', glyph: 'd-retry', word: 'An attempt ran twice' },
  'perhaps-twice': { tone: 'bad', glyph: 'd-retry', word: 'Perhaps twice' },
  mined: { tone: 'neutral', glyph: 'info', word: 'Mined' },
} as const satisfies Record<RunSummary['badges'][number], MarkView>;

export const phaseWord = {
  waiting_human: 'waits for a person',
  api_unavailable: 'API unavailable',
  tool_calling: 'calling a tool',
  llm_calling: 'calling a model',
  condition_check: 'deciding',
  waiting_result: 'between attempts',
  waiting_timer: 'waits for a timer',
  idle: 'idle',
  finished: 'finished',
} as const satisfies Record<RunSummary['phase'], string>;

export const stepStatusView = {
  running: { tone: 'active', glyph: 's-running', word: 'Running' },
  retrying: { tone: 'attention', glyph: 'd-retry', word: 'Retrying' },
  waiting: { tone: 'attention', glyph: 's-waiting', word: 'Waiting' },
  completed: { tone: 'ok', glyph: 's-completed', word: 'Completed' },
  failed: { tone: 'bad', glyph: 's-failed', word: 'Failed' },
  reused: { tone: 'ok', glyph: 'd-reuse', word: 'Reused' },
  skipped: { tone: 'neutral', glyph: 'd-skip', word: 'Skipped' },
  'in-doubt': { tone: 'attention', glyph: 's-doubt', word: 'In doubt' },
  unknown: { tone: 'attention', glyph: 's-unknown', word: 'Unknown' },
  abandoned: { tone: 'neutral', glyph: 's-cancelled', word: 'Abandoned' },
  'not-recorded': { tone: 'bad', glyph: 'd-blocked', word: 'Not recorded' },
} as const satisfies Record<StepStatus, MarkView>;

/** A cancelled run waits for nothing: what it waited for then stayed open. */
export const stepView = (status: StepStatus, run: RunSummary['status']): MarkView =>
  status === 'waiting' && run === 'cancelled'
    ? { tone: 'neutral', glyph: 's-cancelled', word: 'Stayed open' }
    : stepStatusView[status];

export const dispositionView = {
  restored: { tone: 'ok', glyph: 'd-restored', word: 'restored' },
  reuse: { tone: 'ok', glyph: 'd-reuse', word: 'reuse' },
  skip: { tone: 'neutral', glyph: 'd-skip', word: 'skip' },
  recompute: { tone: 'neutral', glyph: 'd-recompute', word: 'recompute' },
  execute: { tone: 'active', glyph: 'd-execute', word: 'execute' },
  'retry-same-key': { tone: 'attention', glyph: 'd-retry', word: 'retry-same-key' },
  'needs-decision': { tone: 'attention', glyph: 'd-decide', word: 'needs-decision' },
  blocked: { tone: 'bad', glyph: 'd-blocked', word: 'blocked' },
} as const satisfies Record<Disposition, MarkView>;

/** What a plan's totals mean in a sentence, for the chips' titles. */
export const dispositionMeaning = {
  restored: 'Visits that closed before the point: their state is given back.',
  reuse: 'The recorded result is returned; nothing is asked again.',
  skip: 'A confirmed effect: never sent again.',
  recompute: 'Pure: runs again, and must give the recorded result.',
  execute: 'Really runs.',
  'retry-same-key': 'Goes out with the same idempotency key and arguments.',
  'needs-decision': 'What happened is not known: ask downstream or decide.',
  blocked: 'Cannot go on here as it stands.',
} as const satisfies Record<Disposition, string>;

export const effectStatusView = {
  intended: { tone: 'active', glyph: 's-running', word: 'Intended' },
  confirmed: { tone: 'ok', glyph: 's-completed', word: 'Confirmed' },
  failed: { tone: 'bad', glyph: 's-failed', word: 'Did not happen' },
  'in-doubt': { tone: 'attention', glyph: 's-doubt', word: 'In doubt' },
  compensated: { tone: 'neutral', glyph: 'rewind', word: 'Compensated' },
} as const satisfies Record<EffectRow['status'], MarkView>;

/** Why an attempt ended without a result. */
export const failureWord = {
  timeout: 'time-out',
  unavailable: 'API unavailable',
  rejected: 'rejected',
  'not-sent': 'surely not sent',
  error: 'error',
} as const satisfies Record<AttemptFailure, string>;

/** The same of what the API names. */
export const failureWords = (failure: string): string =>
  Object.hasOwn(failureWord, failure) ? failureWord[failure as AttemptFailure] : failure;

/** What confirmed an effect. */
export const confirmedWords = {
  outcome: 'by its answer',
  probe: 'by downstream, asked',
  'late-worker': 'by a late worker',
  decision: 'by a decision',
} as const satisfies Record<NonNullable<EffectRow['confirmedBy']>, string>;

export const verdictView = {
  equal: { tone: 'ok', glyph: 'equal', word: 'Equal' },
  equivalent: { tone: 'ok', glyph: 'equivalent', word: 'Equivalent' },
  different: { tone: 'bad', glyph: 'different', word: 'Different' },
} as const satisfies Record<NonNullable<StepRow['verdict']>, MarkView>;

export const kindGlyph = {
  llm: 'k-llm',
  tool: 'k-tool',
  retrieval: 'k-retrieval',
  condition: 'k-condition',
  compute: 'k-compute',
  human: 'k-human',
  wait: 'k-wait',
  agent: 'k-agent',
} as const satisfies Record<StepRow['kind'], GlyphName>;

export const sourceWord = (source: string): string =>
  ({ sdk: 'SDK worker', rerail: 'Rerail file', langgraph: 'LangGraph', otlp: 'OTLP' })[source] ?? source;

/** Whether what is known of the run is what a trace from another program says. */
export const isFromTrace = ({ home, source }: Pick<RunSummary, 'home' | 'source'>): boolean =>
  home === 'mirror' && source !== 'sdk' && source !== 'rerail';
