'use client';

import { EffectTag } from '@/components/run/effect-tag';
import { Glyph } from '@/components/ui/glyph';
import type { PlanAnswer } from '@/lib/client/api-types';
import type { StepKey } from '@/lib/core/events/ids';
import { leftWords } from './plan-draft';

interface Props {
  readonly plan: PlanAnswer;
  readonly keep: readonly StepKey[];
  readonly onKeep: (keep: readonly StepKey[]) => void;
}

/** What a rewind leaves in history, and which effects stay in force all the same. */
export function LeftBehind({ plan, keep, onKeep }: Props) {
  const { steps, effects, questions } = plan.leftBehind;
  return (
    <section className="side-card" aria-label="Left behind">
      <h2>Left behind</h2>
      {steps + effects.length + questions.length === 0 ? (
        <p className="small second">Nothing.</p>
      ) : steps + questions.length === 0 ? (
        <p className="small second mb-2">Effects that an earlier rewind left behind and kept:</p>
      ) : (
        <p className="small second mb-2">{leftWords(plan)}</p>
      )}
      {effects.length > 0 && (
        <ul className="leftlist">
          {effects.map((effect) => (
            <li key={effect.stepKey}>
              <div className="line">
                {effect.fate === 'needs-keep' || keep.includes(effect.stepKey) ? (
                  <label>
                    <input
                      type="checkbox"
                      checked={keep.includes(effect.stepKey)}
                      onChange={(event) =>
                        onKeep(
                          event.target.checked
                            ? [...keep, effect.stepKey]
                            : keep.filter((each) => each !== effect.stepKey),
                        )
                      }
                    />
                    Keep <code>{effect.name}</code> in force
                  </label>
                ) : (
                  <span className="mark" data-tone="ok">
                    <Glyph name="lock" />
                    <code>{effect.name}</code> stays in force
                  </span>
                )}
                <span className="grow" />
                <EffectTag effect={effect.effect} />
              </div>
              <span className="small second">
                {effect.status}
                {effect.receipt !== null && `, receipt ${effect.receipt}`}, intended at seq {effect.intentSeq}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
