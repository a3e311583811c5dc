import type { MarkView } from '@/components/ui/mark';
import type { EffectRow, StepRow } from '@/lib/client/api-types';
import { confirmedWords, failureWords } from './views';

/** Where an effect stands: whether it was sent, and what confirms it. */
export interface EffectLine {
  readonly sent: MarkView;
  readonly confirmed: MarkView;
  /** Its outcome is known and stands. */
  readonly done: boolean;
}

type Step = Pick<StepRow, 'stepKey' | 'status' | 'receipt' | 'failure' | 'idempotencyKey'>;
type Row = Pick<
  EffectRow,
  'stepKey' | 'idempotencyKey' | 'status' | 'receipt' | 'confirmedBy' | 'held' | 'perhapsTwice'
>;

const YES: MarkView = { tone: 'ok', glyph: 's-completed', word: 'yes' };
const NO_RECEIPT: MarkView = { tone: 'neutral', glyph: 's-unreached', word: 'no receipt' };
const underWay = (word: string): MarkView => ({ tone: 'neutral', glyph: 's-unreached', word });
const unknown = (word: string): MarkView => ({ tone: 'attention', glyph: 's-doubt', word });

/** Whether a call of it may have begun. Every call that leaves has its key on disk before; a foreign trace has no keys. */
export const mayHaveBegun = ({ status, idempotencyKey }: Pick<Step, 'status' | 'idempotencyKey'>): boolean =>
  idempotencyKey !== null || (status !== 'waiting' && status !== 'abandoned');

/**
 * The ledger knows what a probe, a late worker or a person said after the call; the step only how the call itself ended,
 * and is asked where the ledger has no row of it (it is not loaded, the trace brought none, or the step sent nothing:
 * the rows of its key are then about calls with other arguments).
 */
export function effectLine(step: Step, ledger: readonly Row[]): EffectLine {
  const row = ledger.findLast(
    (each) => each.stepKey === step.stepKey && each.idempotencyKey === step.idempotencyKey,
  );
  return row === undefined ? lineOfStep(step) : lineOfRow(row, step);
}

function lineOfRow(row: Row, step: Step): EffectLine {
  switch (row.status) {
    case 'intended':
      return { sent: underWay('under way'), confirmed: NO_RECEIPT, done: false };
    case 'confirmed': {
      const by =
        row.confirmedBy === null || row.confirmedBy === 'outcome'
          ? ''
          : `, ${confirmedWords[row.confirmedBy]}`;
      return {
        sent:
          row.perhapsTwice === true
            ? { tone: 'bad', glyph: 'd-retry', word: 'yes, perhaps twice' }
            : row.confirmedBy === 'decision'
              ? { ...YES, word: 'a person said so' }
              : YES,
        confirmed: { ...YES, word: `${row.receipt ?? 'no receipt'}${by}` },
        done: true,
      };
    }
    case 'failed':
      return {
        sent: {
          tone: 'neutral',
          glyph: 's-cancelled',
          word: `it did not happen${step.failure === null ? '' : ` (${failureWords(step.failure)})`}`,
        },
        confirmed: NO_RECEIPT,
        done: false,
      };
    case 'in-doubt':
      return {
        sent: unknown(row.held ? 'not known, held' : 'not known'),
        confirmed: NO_RECEIPT,
        done: false,
      };
    case 'compensated':
      return {
        sent: YES,
        confirmed: { tone: 'neutral', glyph: 'rewind', word: 'compensated since' },
        done: true,
      };
  }
}

function lineOfStep(step: Step): EffectLine {
  if (step.status === 'completed')
    return { sent: YES, confirmed: { ...YES, word: step.receipt ?? 'no receipt' }, done: true };
  if (!mayHaveBegun(step))
    return {
      sent: { tone: 'neutral', glyph: 's-cancelled', word: 'nothing is recorded as sent' },
      confirmed: NO_RECEIPT,
      done: false,
    };
  const doubt = step.status === 'in-doubt' || step.status === 'unknown';
  return {
    sent: doubt ? unknown('not known') : underWay(step.failure ?? 'under way'),
    confirmed: NO_RECEIPT,
    done: false,
  };
}
