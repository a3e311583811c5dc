'use client';

import { useQuery } from '@tanstack/react-query';
import { plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Mark, type MarkView } from '@/components/ui/mark';
import type { PlanAnswer, RunSummary } from '@/lib/client/api-types';
import { machineQuery } from '@/lib/client/run-queries';
import { workersQuery } from '@/lib/client/workers';
import { isOver } from './plan-draft';

type Difference = PlanAnswer['drift']['differences'][number];

const gradeView = {
  harmless: { tone: 'neutral', glyph: 'info' },
  warn: { tone: 'attention', glyph: 'info' },
  block: { tone: 'bad', glyph: 's-diverged' },
} as const satisfies Record<Difference['grade'], Omit<MarkView, 'word'>>;

const worst = { block: 0, warn: 1, harmless: 2 } as const satisfies Record<Difference['grade'], number>;

/** What the differences come to, first in the strip. */
function verdict({ drift }: PlanAnswer): MarkView {
  if (drift.source === 'recorded')
    return { tone: 'neutral', glyph: 's-unknown', word: 'Machine not compared' };
  const count = drift.differences.length;
  if (count === 0) return { tone: 'ok', glyph: 's-completed', word: 'Machine as recorded' };
  return drift.blocked
    ? { tone: 'bad', glyph: 's-diverged', word: `${plural(count, 'declared difference')}, blocking` }
    : { tone: 'attention', glyph: 's-diverged', word: plural(count, 'declared difference') };
}

/** Whether somebody is there to carry the order out, and whether the run is free. */
function useReadiness(run: RunSummary, mode: PlanAnswer['mode']): readonly MarkView[] {
  const workers = useQuery(workersQuery).data;
  const able = workers?.filter(({ live, agents }) => live && agents.some(({ name }) => name === run.agent));
  const found: MarkView[] = [];
  if (able !== undefined)
    found.push(
      able.length === 0
        ? { tone: 'attention', glyph: 'info', word: `no worker with ${run.agent} is connected` }
        : { tone: 'ok', glyph: 's-completed', word: `${plural(able.length, 'worker')} with ${run.agent}` },
    );
  if (mode === 'resume' || mode === 'rewind')
    found.push(
      run.holder === null
        ? { tone: 'ok', glyph: 's-completed', word: `lease free, takes epoch ${run.epoch + 1}` }
        : { tone: 'attention', glyph: 'lock', word: `held by ${run.holder.workerId}, epoch ${run.epoch}` },
    );
  return found;
}

/** Declared differences between the run's machine and today's, each by name, and who would carry the order out. */
export function DriftStrip({ plan, run }: { readonly plan: PlanAnswer; readonly run: RunSummary }) {
  const { drift, machineDigest, mode } = plan;
  const said = verdict(plan);
  const readiness = useReadiness(run, mode);
  const gradeWord = { harmless: 'harmless', warn: 'to be looked at', block: `stops the ${mode}` };
  const unchanged = drift.source === 'worker' && drift.differences.length === 0;
  const tools = useQuery({
    ...machineQuery(machineDigest ?? ''),
    enabled: unchanged && machineDigest !== null,
  }).data?.tools;
  const count = Object.keys(tools ?? {}).length;
  return (
    <section className="gate" data-tone={said.tone === 'neutral' ? undefined : said.tone} aria-label="Drift">
      <span className="mark" data-tone={said.tone}>
        <Glyph name={said.glyph} />
        <strong>{said.word}</strong>
      </span>
      {drift.source === 'recorded' && (
        <span className="second">
          {machineDigest === null ? 'the trace names no machine' : 'the plan goes by the recorded machine'}
        </span>
      )}
      {machineDigest !== null && drift.differences.length === 0 && (
        <code className="third" title={`Machine ${machineDigest}`}>
          {machineDigest.slice(0, 4)} {machineDigest.slice(4, 8)}
        </code>
      )}
      {unchanged && count > 0 && (
        <Mark view={{ tone: 'ok', glyph: 's-completed', word: `${plural(count, 'tool')} as recorded` }} />
      )}
      {drift.differences
        .toSorted((a, b) => worst[a.grade] - worst[b.grade])
        .map(({ path, grade, sentence }) => (
          <span
            key={path}
            className="mark"
            data-tone={gradeView[grade].tone}
            title={`${path}, ${gradeWord[grade]}`}
          >
            <Glyph name={gradeView[grade].glyph} />
            <span>
              {sentence} <span className="third">({gradeWord[grade]})</span>
            </span>
          </span>
        ))}
      {!isOver(plan) && readiness.map((view) => <Mark key={view.word} view={view} />)}
      {mode === 'replay' && drift.differences.length > 0 && !drift.blocked && (
        <Mark
          view={{
            tone: 'neutral',
            glyph: 'info',
            word: 'a replay runs through differences and reports the first',
          }}
        />
      )}
    </section>
  );
}

const shown = (value: unknown): string =>
  value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

/** A difference that stops the order: what was recorded, and what is declared today. */
export function DriftCards({ plan }: { readonly plan: PlanAnswer }) {
  return plan.drift.differences
    .filter(({ grade }) => grade === 'block')
    .map(({ path, sentence, recorded, now }) => (
      <section key={path} className="side-card" aria-label={`Difference ${path}`}>
        <h2 data-tone="bad">
          <Glyph name="s-diverged" toned />
          <code className="clip" title={path}>
            {path}
          </code>
          <span className="grow" />
          <span className="small second">stops the {plan.mode}</span>
        </h2>
        <p className="small second">{sentence}</p>
        {(recorded !== null || now !== null) && (
          <div className="code drift-values">
            <pre data-d="del">
              <span className="sign">−</span>
              {shown(recorded)}
            </pre>
            <pre data-d="add">
              <span className="sign">+</span>
              {shown(now)}
            </pre>
          </div>
        )}
      </section>
    ));
}
