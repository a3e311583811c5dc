'use client';

import { Fragment, type ReactNode, useMemo, useState } from 'react';
import { EffectTag } from '@/components/run/effect-tag';
import { dispositionMeaning, dispositionView, kindGlyph } from '@/components/run/views';
import { duration, exactDollars, plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Mark } from '@/components/ui/mark';
import type { Disposition, PlanAnswer, PlannedStep } from '@/lib/client/api-types';
import { unescapeName, visitOf } from '@/lib/core/events/step-key';
import { dispositions } from '@/lib/core/planner/plan';
import { CallsLine } from './calls-line';
import type { EnvelopeRow, PlanDifferences } from './plan-differences';
import {
  byVisit,
  closedWords,
  groupWords,
  isOver,
  isRestored,
  pointWords,
  shownGroups,
  toolWords,
  type VisitGroup,
} from './plan-draft';

/** Above this many steps, visits start folded unless something in them is pressing. */
const MANY = 400;
/** Visits, and steps of one, that are drawn before they are asked for. */
const AT_ONCE = 200;

/** What a closed visit gives back: whose answer it is, where it stands in the journal, and its evidence. */
function restoredWords(step: PlannedStep): string {
  const what = {
    llm: 'The model’s answer',
    tool: step.effect === 'read' || step.effect === 'pure' ? 'The tool’s answer' : 'Done',
    retrieval: 'What was retrieved',
    condition: 'The decision',
    compute: 'The result',
    human: 'The person’s answer',
    wait: 'Waited',
    agent: 'The agent’s result',
  }[step.kind];
  return `${what}, seq ${step.seq}${step.receipt === null ? '' : `, receipt ${step.receipt}`}`;
}

/** Rows that changed by themselves stay marked; those that a choice changed flash once, `n` counting the choices. */
export interface Changes extends Pick<PlanDifferences, 'envelope' | 'gone'> {
  readonly marked: ReadonlySet<string>;
  readonly flashed: ReadonlySet<string>;
  readonly n: number;
}

function Row({
  step,
  changes,
  nested = false,
}: {
  readonly step: PlannedStep;
  readonly changes: Changes;
  /** Below the row of its visit. */
  readonly nested?: boolean;
}) {
  const pressing = isPressing(step);
  const changed = changes.marked.has(step.key);
  const condition = step.condition === null ? undefined : conditionWords[step.condition];
  const extra = [
    condition?.isSaidBy.test(step.reason) ? undefined : condition?.words,
    step.ageMs === null ? undefined : `${duration(step.ageMs)} old`,
    step.guarded === false ? 'unguarded' : undefined,
  ].filter((part) => part !== undefined);
  return (
    <tr
      className={pressing ? 'focus-row' : undefined}
      data-tone={pressing ? dispositionView[step.disposition].tone : undefined}
      data-changed={changed ? '' : undefined}
      data-flash={flashOf(changes, step.key)}
      data-nested={nested ? '' : undefined}
      data-step={step.key}
      tabIndex={-1}
    >
      <td>
        <Mark view={dispositionView[step.disposition]} title={dispositionMeaning[step.disposition]} />
        {changed && <Changed />}
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
      <td
        className={pressing || mayGoOut(step) ? 'reason wrap' : 'reason'}
        title={[step.reason, ...extra].join(' ')}
      >
        {step.disposition === 'restored' ? restoredWords(step) : step.reason}
        {extra.length > 0 && <span className="third"> ({extra.join(', ')})</span>}
      </td>
    </tr>
  );
}

/** What a row's condition is, where its reason does not say it already. */
const conditionWords = {
  'if-awaited': { words: 'if the code still awaits it', isSaidBy: /(where|if) the code/ },
  'if-equal': { words: 'if the input is equal', isSaidBy: /if the input is equal/ },
} as const satisfies Record<NonNullable<PlannedStep['condition']>, { words: string; isSaidBy: RegExp }>;

/** An effect that is sent, or that the code was given another answer for: nothing of that is ever cut off. */
const mayGoOut = ({ effect, disposition }: PlannedStep): boolean =>
  (effect === 'external' || effect === 'idempotent') && disposition !== 'restored' && disposition !== 'skip';

const Changed = ({ word = 'changed' }: { readonly word?: string }) => (
  <span className="third small"> {word}</span>
);

/** Another name for each choice, so that a row flashes anew. */
const flashOf = ({ flashed, n }: Changes, key: string) =>
  flashed.has(key) ? (n % 2 === 0 ? 'a' : 'b') : undefined;

/** A row that draws what it stands for when it is pressed. */
function MoreRow({ words, onMore }: { readonly words: string; readonly onMore: () => void }) {
  return (
    <tr className="more">
      <td colSpan={4}>
        <button type="button" className="link" onClick={onMore}>
          {words}
        </button>
      </td>
    </tr>
  );
}

/** Steps of one visit: those at its beginning, and all that press or changed; the rest when asked for. */
function StepRows({
  steps,
  changes,
  nested = false,
}: {
  readonly steps: readonly PlannedStep[];
  readonly changes: Changes;
  readonly nested?: boolean;
}) {
  const [most, setMost] = useState(AT_ONCE);
  const shown = steps.filter((step, n) => n < most || isPressing(step) || changes.marked.has(step.key));
  return (
    <>
      {shown.map((step) => (
        <Row key={step.key} step={step} nested={nested} changes={changes} />
      ))}
      {shown.length < steps.length && (
        <MoreRow
          words={`${plural(steps.length - shown.length, 'more step')} of this visit: show ${Math.min(AT_ONCE * 5, steps.length - shown.length)}`}
          onMore={() => setMost(most + AT_ONCE * 5)}
        />
      )}
    </>
  );
}

const namesOf = (steps: readonly PlannedStep[]): string => {
  const times = new Map<string, number>();
  for (const step of steps) times.set(step.name, (times.get(step.name) ?? 0) + 1);
  return [...times]
    .map(([name, n]) => (n === 1 ? unescapeName(name) : `${unescapeName(name)} ×${n}`))
    .join(', ');
};

/** A closed visit in one row; its steps below it where it is unfolded. */
function RestoredVisit({
  group,
  open,
  changes,
  onToggle,
}: {
  readonly group: VisitGroup;
  readonly open: boolean;
  readonly changes: Changes;
  readonly onToggle: () => void;
}) {
  const { state, visit } = visitOf(group.visit);
  const names = namesOf(group.steps);
  const anyChanged = group.steps.some((step) => changes.marked.has(step.key));
  return (
    <>
      <tr data-changed={anyChanged ? '' : undefined} tabIndex={-1}>
        <td>
          <Mark view={dispositionView.restored} title={dispositionMeaning.restored} />
          {anyChanged && <Changed />}
        </td>
        <td>
          <button type="button" className="stepname" aria-expanded={open} onClick={onToggle}>
            <Glyph name={open ? 'chevron-down' : 'chevron-right'} />
            <code className="clip">{state}</code>
            <span className="third small nowrap">visit {visit}</span>
          </button>
        </td>
        <td className="second small">{plural(group.steps.length, 'step')}</td>
        <td className="reason" title={names}>
          {names}
        </td>
      </tr>
      {open && <StepRows steps={group.steps} nested changes={changes} />}
    </>
  );
}

/** Steps of the plan that was read which the new one has no row for. */
function GoneRows({ steps }: { readonly steps: readonly PlannedStep[] }) {
  return (
    <tbody>
      <tr className="group">
        <th colSpan={4} scope="rowgroup">
          <strong>Gone from the plan</strong> {plural(steps.length, 'step')} of the plan that you read
        </th>
      </tr>
      {steps.map((step) => (
        <tr key={step.key} data-changed="" data-gone="" tabIndex={-1}>
          <td>
            <del>{step.disposition}</del>
            <Changed word="gone" />
          </td>
          <td title={step.key}>
            <code className="clip">
              <del>{unescapeName(step.name)}</del>
            </code>
          </td>
          <td>
            {step.effect === null ? <span className="third">–</span> : <EffectTag effect={step.effect} />}
          </td>
          <td className="reason" title={step.reason}>
            was: {step.reason}
          </td>
        </tr>
      ))}
    </tbody>
  );
}

function EnvelopeRows({
  plan,
  changes,
}: {
  readonly plan: PlanAnswer;
  readonly changes: Pick<Changes, 'envelope' | 'gone'>;
}) {
  const { states, tools, asksPeople, limits } = plan.envelope;
  const mark = (row: EnvelopeRow) => (changes.envelope.has(row) ? '' : undefined);
  return (
    <tbody>
      <tr className="group">
        <th colSpan={4} scope="rowgroup">
          <strong>Goes live beyond the frontier</strong>{' '}
          {plan.obstacles.length > 0 ? 'once nothing is in the way: ' : ''}what may run; anything else stops
          and asks
        </th>
      </tr>
      <tr data-changed={mark('states')}>
        <td className="second">may enter{mark('states') !== undefined && <Changed />}</td>
        <td colSpan={3} className="wrap">
          {states.length === 0 ? (
            <span className="third">no further state</span>
          ) : (
            states.map((state) => (
              <Fragment key={state}>
                <code className="mr-2">{state}</code>{' '}
              </Fragment>
            ))
          )}
        </td>
      </tr>
      {tools.map((tool) => (
        <tr key={tool.name} data-changed={mark(`tool ${tool.name}`)}>
          <td className="second">may call{mark(`tool ${tool.name}`) !== undefined && <Changed />}</td>
          <td>
            <span className="stepname">
              <Glyph name="k-tool" />
              <code className="clip" title={tool.name}>
                {tool.name}
              </code>
            </span>
          </td>
          <td>
            <EffectTag effect={tool.effect} />
          </td>
          <td className="reason wrap">{toolWords(tool, plan.steps)}</td>
        </tr>
      ))}
      {changes.gone.tools.map((tool) => (
        <tr key={`gone ${tool.name}`} data-changed="" data-gone="">
          <td className="second">
            <del>may call</del>
            <Changed word="gone" />
          </td>
          <td>
            <code className="clip" title={tool.name}>
              <del>{tool.name}</del>
            </code>
          </td>
          <td>
            <EffectTag effect={tool.effect} />
          </td>
          <td className="reason">may not be called any more</td>
        </tr>
      ))}
      <tr data-changed={mark('limits')}>
        <td className="second">limits{mark('limits') !== undefined && <Changed />}</td>
        <td colSpan={3} className="reason">
          {limits.steps === null ? 'no limit of steps' : plural(limits.steps, 'step')},{' '}
          {limits.costMicroUsd === null
            ? 'no limit of cost'
            : `cost up to ${exactDollars(limits.costMicroUsd)}`}
          {asksPeople && ', may ask a person'}
        </td>
      </tr>
    </tbody>
  );
}

/** Every step with what will be done about it and why, by visit; then the envelope. */
export function PlanTable({
  plan,
  changes,
  only,
  onOnly,
}: {
  readonly plan: PlanAnswer;
  readonly changes: Changes;
  /** The disposition that the table is narrowed to. */
  readonly only: Disposition | undefined;
  readonly onOnly: (only: Disposition | undefined) => void;
}) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setToggled(new Set(toggled.has(id) ? [...toggled].filter((each) => each !== id) : [...toggled, id]));
  const groups = useMemo(
    () => byVisit(only === undefined ? plan.steps : plan.steps.filter((step) => step.disposition === only)),
    [plan.steps, only],
  );
  const { restored, given, others } = useMemo(() => {
    const closed = groups.filter(isRestored);
    return {
      restored: closed,
      given: closed.reduce((n, group) => n + group.steps.length, 0),
      others: groups.filter((group) => !isRestored(group)),
    };
  }, [groups]);
  const [most, setMost] = useState(AT_ONCE);
  const showMore = () => setMost(most + AT_ONCE);
  const presses = (group: VisitGroup) =>
    group.steps.some((step) => isPressing(step) || changes.marked.has(step.key));
  const many = plan.steps.length > MANY;
  const insideOpen = !toggled.has(INSIDE);
  return (
    <>
      <fieldset className="totals" aria-label="Totals">
        {dispositions.map((each) => (
          <button
            key={each}
            type="button"
            className="total"
            aria-pressed={only === each}
            data-tone={dispositionView[each].tone}
            data-zero={plan.totals[each] === 0 ? '' : undefined}
            title={dispositionMeaning[each]}
            onClick={() => onOnly(only === each ? undefined : each)}
          >
            <Glyph name={dispositionView[each].glyph} toned />
            <b>{plan.totals[each]}</b> {each}
          </button>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard */}
      <section className="scroll grow inset" aria-label="Steps" tabIndex={0}>
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
          {restored.length > 0 && (
            <tbody>
              <GroupHead open={insideOpen} onToggle={() => toggle(INSIDE)}>
                <strong>{pointWords(plan)}</strong> {closedWords(given, restored.length)}
              </GroupHead>
              {insideOpen &&
                shownGroups(restored, most, presses).map((group) =>
                  'leftOut' in group ? (
                    <MoreRow
                      key={`left out ${group.from}`}
                      words={`${plural(group.leftOut, 'more visit')}: show ${Math.min(AT_ONCE, group.leftOut)}`}
                      onMore={showMore}
                    />
                  ) : (
                    <RestoredVisit
                      key={group.visit}
                      group={group}
                      open={toggled.has(group.visit)}
                      changes={changes}
                      onToggle={() => toggle(group.visit)}
                    />
                  ),
                )}
            </tbody>
          )}
          {shownGroups(others, most, presses).map((group) => {
            if ('leftOut' in group)
              return (
                <tbody key={`left out ${group.from}`}>
                  <MoreRow
                    words={`${plural(group.leftOut, 'more visit')}: show ${Math.min(AT_ONCE, group.leftOut)}`}
                    onMore={showMore}
                  />
                </tbody>
              );
            const folded = many && !group.steps.some(isPressing);
            const open = folded === toggled.has(group.visit);
            const { state, visit } = visitOf(group.visit);
            return (
              <tbody key={group.visit}>
                <GroupHead open={open} onToggle={() => toggle(group.visit)}>
                  <strong>
                    {state}, visit {visit}
                  </strong>{' '}
                  {groupWords(plan, group)}
                </GroupHead>
                {open && <StepRows steps={group.steps} changes={changes} />}
              </tbody>
            );
          })}
          {changes.gone.steps.length > 0 && <GoneRows steps={changes.gone.steps} />}
          {only === undefined && plan.mode !== 'replay' && !isOver(plan) && (
            <EnvelopeRows plan={plan} changes={changes} />
          )}
        </table>
        {plan.steps.length === 0 && <p className="p-4 second">Nothing is recorded before this point.</p>}
        {plan.steps.length > 0 && groups.length === 0 && only !== undefined && (
          <p className="p-4 second">
            No step is {only} in this plan.{' '}
            <button type="button" className="link" onClick={() => onOnly(undefined)}>
              Show all
            </button>
          </p>
        )}
      </section>
      <CallsLine plan={plan} />
    </>
  );
}

/** Stands for the group of closed visits among the names of visits. */
const INSIDE = ' inside';

const isPressing = (step: PlannedStep): boolean =>
  step.disposition === 'needs-decision' || step.disposition === 'blocked';

function GroupHead({
  open,
  onToggle,
  children,
}: {
  readonly open: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
}) {
  return (
    <tr className="group">
      <th colSpan={4} scope="rowgroup">
        <button type="button" aria-expanded={open} onClick={onToggle}>
          <Glyph name={open ? 'chevron-down' : 'chevron-right'} />
          <span className="clip">{children}</span>
        </button>
      </th>
    </tr>
  );
}
