'use client';

import { useState } from 'react';
import { EffectTag } from '@/components/run/effect-tag';
import { dispositionMeaning, dispositionView, kindGlyph } from '@/components/run/views';
import { duration, plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Mark } from '@/components/ui/mark';
import type { Disposition, PlanAnswer, PlannedStep } from '@/lib/client/api-types';
import { unescapeName, visitOf } from '@/lib/core/events/step-key';
import { byVisit } from './plan-draft';

/** Above this many steps, visits that are only given back start folded. */
const MANY = 80;
const order = [
  'restored',
  'reuse',
  'skip',
  'recompute',
  'execute',
  'retry-same-key',
  'needs-decision',
  'blocked',
] as const satisfies readonly Disposition[];

function Row({ step, changed }: { readonly step: PlannedStep; readonly changed: boolean }) {
  const pressing = step.disposition === 'needs-decision' || step.disposition === 'blocked';
  const extra = [
    step.condition === 'if-awaited'
      ? 'if the code still awaits it'
      : step.condition === 'if-equal'
        ? 'if the input is equal'
        : undefined,
    step.ageMs === null ? undefined : `${duration(step.ageMs)} old`,
    step.guarded === false ? 'unguarded' : undefined,
  ].filter((part) => part !== undefined);
  return (
    <tr
      className={pressing ? 'focus-row' : undefined}
      data-tone={pressing ? dispositionView[step.disposition].tone : undefined}
      data-changed={changed ? '' : undefined}
    >
      <td>
        <Mark view={dispositionView[step.disposition]} title={dispositionMeaning[step.disposition]} />
        {changed && <span className="third small"> changed</span>}
      </td>
      <td title={step.key}>
        <span className="stepname">
          <Glyph name={kindGlyph[step.kind]} />
          <code className="clip">
            {unescapeName(step.name)}
            <i>{step.key.slice(step.key.lastIndexOf('#'))}</i>
          </code>
        </span>
      </td>
      <td>{step.effect === null ? <span className="third">–</span> : <EffectTag effect={step.effect} />}</td>
      <td className="reason" title={step.reason}>
        {step.reason}
        {extra.length > 0 && <span className="third"> ({extra.join(', ')})</span>}
      </td>
    </tr>
  );
}

function EnvelopeRows({ plan }: { readonly plan: PlanAnswer }) {
  const { states, tools, asksPeople, limits } = plan.envelope;
  return (
    <tbody>
      <tr className="group">
        <th colSpan={4} scope="rowgroup">
          <strong>Beyond the frontier</strong> what may run; anything else stops and asks
        </th>
      </tr>
      <tr>
        <td className="second">may enter</td>
        <td colSpan={3} className="wrap">
          {states.length === 0 ? (
            <span className="third">no further state</span>
          ) : (
            states.map((state) => (
              <code key={state} className="mr-3">
                {state}
              </code>
            ))
          )}
        </td>
      </tr>
      {tools.map((tool) => (
        <tr key={tool.name}>
          <td className="second">may call</td>
          <td>
            <span className="stepname">
              <Glyph name="k-tool" />
              <code>{tool.name}</code>
            </span>
          </td>
          <td>
            <EffectTag effect={tool.effect} />
          </td>
          <td className="reason">
            in {tool.states.join(', ')}
            {!tool.guarded && ', unguarded: a late send cannot be stopped or found'}
          </td>
        </tr>
      ))}
      <tr>
        <td className="second">limits</td>
        <td colSpan={3} className="reason">
          {limits.steps === null ? 'no limit of steps' : plural(limits.steps, 'step')},{' '}
          {limits.costMicroUsd === null
            ? 'no limit of cost'
            : `cost up to $${(limits.costMicroUsd / 1_000_000).toFixed(2)}`}
          {asksPeople && ', may ask a person'}
        </td>
      </tr>
    </tbody>
  );
}

/** Every step with what will be done about it and why, by visit; then the envelope. */
export function PlanTable({
  plan,
  changed,
}: {
  readonly plan: PlanAnswer;
  readonly changed: ReadonlySet<string>;
}) {
  const [only, setOnly] = useState<Disposition | undefined>(undefined);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const groups = byVisit(
    only === undefined ? plan.steps : plan.steps.filter((step) => step.disposition === only),
  );
  const many = plan.steps.length > MANY;
  return (
    <>
      <fieldset className="totals" aria-label="Totals">
        {order.map((each) => (
          <button
            key={each}
            type="button"
            className="total"
            aria-pressed={only === each}
            data-tone={dispositionView[each].tone}
            data-zero={plan.totals[each] === 0 ? '' : undefined}
            title={dispositionMeaning[each]}
            onClick={() => setOnly(only === each ? undefined : each)}
          >
            <Glyph name={dispositionView[each].glyph} toned />
            <b>{plan.totals[each]}</b> {each}
          </button>
        ))}
      </fieldset>
      <div className="scroll grow">
        <table className="table plan-table" aria-label="Plan">
          <colgroup>
            <col style={{ width: 150 }} />
            <col style={{ width: 190 }} />
            <col style={{ width: 108 }} />
            <col />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">Disposition</th>
              <th scope="col">Step</th>
              <th scope="col">Effect</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          {groups.map((group) => {
            const restored = group.steps.every((step) => step.disposition === 'restored');
            const open = (many && restored) === toggled.has(group.visit);
            const { state, visit } = visitOf(group.visit);
            return (
              <tbody key={group.visit}>
                <tr className="group">
                  <th colSpan={4} scope="rowgroup">
                    <button
                      type="button"
                      aria-expanded={open}
                      onClick={() =>
                        setToggled(
                          new Set(
                            toggled.has(group.visit)
                              ? [...toggled].filter((each) => each !== group.visit)
                              : [...toggled, group.visit],
                          ),
                        )
                      }
                    >
                      <Glyph name={open ? 'chevron-down' : 'chevron-right'} />
                      <strong>{state}</strong> visit {visit}, {plural(group.steps.length, 'step')}
                      {restored ? ', given back' : ', its handler is entered again'}
                    </button>
                  </th>
                </tr>
                {open &&
                  group.steps.map((step) => (
                    <Row key={step.key} step={step} changed={changed.has(step.key)} />
                  ))}
              </tbody>
            );
          })}
          {only === undefined && plan.mode !== 'replay' && <EnvelopeRows plan={plan} />}
        </table>
        {plan.steps.length === 0 && <p className="p-4 second">Nothing is recorded before this point.</p>}
      </div>
    </>
  );
}
