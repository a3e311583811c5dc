import { Button } from '@/components/ui/button';
import { clock, zoneAt } from '@/components/ui/format';
import { Glyph, type GlyphName } from '@/components/ui/glyph';
import type { Zone } from '@/components/ui/zone';
import type { PlanAnswer, RunSummary } from '@/lib/client/api-types';

/** Who holds the run so that this order cannot be given; a probe holds back nothing. */
export function heldBy(
  run: Pick<RunSummary, 'holder'>,
  mode: PlanAnswer['mode'],
  zone: Zone,
): string | undefined {
  const { holder } = run;
  if (holder === null || holder.mode === 'verify' || mode === 'fork' || mode === 'replay') return undefined;
  const since = Date.parse(holder.since);
  return `Held by ${holder.workerId} since ${clock(since, zone).slice(0, 8)} ${zoneAt(since, zone)}`;
}

interface Props {
  readonly plan: PlanAnswer | undefined;
  readonly held: string | undefined;
  readonly words: string;
  readonly glyph: GlyphName;
  readonly hotkey: string;
  readonly locked: string | undefined;
  /** What becomes of the order while nobody may claim it. */
  readonly queued: string | undefined;
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onBack: () => void;
  readonly onGive: () => void;
}

/** Why, which plan, and the button that says what will really run. */
export function PlanFoot(props: Props) {
  const { plan, held, locked } = props;
  // Who holds it stands in the button's place.
  const note = held === undefined ? (locked ?? props.queued) : undefined;
  return (
    <footer className="plan-foot">
      <label className="field why grow">
        <span className="small">Reason</span>
        <input
          aria-label="Reason"
          placeholder="Kept in the journal"
          value={props.reason}
          onChange={(event) => props.onReason(event.target.value)}
        />
      </label>
      {note !== undefined && plan && (
        <span
          className="small second locked"
          role="status"
          aria-label={locked === undefined ? 'What becomes of the order' : 'Why the button is locked'}
          title={note}
        >
          <Glyph name={locked === undefined ? 'info' : 'lock'} />
          <span className="clip">{note}</span>
        </span>
      )}
      {plan && (
        <span
          className="digest small"
          title={`The plan that is shown is the plan that runs: where journal, machine or answers move, it is refused and a new one is shown. Digest ${plan.digest}`}
        >
          plan
          <code>
            {plan.digest.slice(0, 4)} {plan.digest.slice(4, 8)}
          </code>
        </span>
      )}
      <Button onPress={props.onBack} hotkey="Esc">
        Cancel
      </Button>
      {held === undefined ? (
        <Button
          kind="primary"
          size="large"
          glyph={locked === undefined ? props.glyph : 'lock'}
          hotkey={props.hotkey}
          reason={locked}
          onPress={props.onGive}
        >
          {props.words}
        </Button>
      ) : (
        <span className="held" role="status" aria-label="Who holds the run">
          <Glyph name="lock" />
          {held}
        </span>
      )}
    </footer>
  );
}
