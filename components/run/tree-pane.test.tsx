import { NuqsTestingAdapter } from 'nuqs/adapters/testing';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { RunSummary, StepRow } from '@/lib/client/api-types';
import { Scrubber } from './scrubber';
import { eventBars } from './scrubber-bars';
import { TreePane } from './tree-pane';

const run = { id: 'r', interruption: null, failure: null, status: 'completed' } as unknown as RunSummary;
const step = (n: number, change: Partial<StepRow> = {}) =>
  ({
    stepKey: `plan#1/look#${n}`,
    name: 'look',
    scope: 'plan#1',
    kind: 'tool',
    effect: 'read',
    status: 'completed',
    attempt: 1,
    executions: 1,
    line: 0,
    inForce: true,
    startedSeq: n * 2,
    startedAt: '2026-11-29T01:00:00.000Z',
    attemptSeq: n * 2,
    endedSeq: n * 2 + 1,
    endedAt: '2026-11-29T01:00:01.000Z',
    error: null,
    model: null,
    api: null,
    ...change,
  }) as unknown as StepRow;
const visits = [{ state: 'plan', visit: 1, key: 'plan#1', enteredSeq: 1, leftSeq: null }] as never;
const none = () => undefined;

const tree = (search: string, change: Partial<Parameters<typeof TreePane>[0]> = {}) =>
  renderToStaticMarkup(
    <NuqsTestingAdapter searchParams={search}>
      <TreePane
        run={run}
        steps={[step(1), step(2, { stepKey: 'plan#1/pay#1' as never, name: 'pay' })]}
        total={2}
        visits={visits}
        checkpoints={[]}
        stops={[]}
        failures={[]}
        ahead={[]}
        spans={[]}
        opening={false}
        onFill={none}
        onFillAll={none}
        problem={undefined}
        seq={2}
        onMove={none}
        {...change}
      />
    </NuqsTestingAdapter>,
  );

describe('the timeline', () => {
  it('says how many of the steps are shown, and never shows some as if they were all', () => {
    expect(tree('')).toContain('>2 steps<');
    expect(tree('?find=pay')).toContain('>1 of 2 steps<');
    const spans = [
      [0, 4],
      [90, 1_000],
    ] as const;
    const some = tree('', { total: 12_400, spans });
    expect(some).toContain('>2 of 12,400 steps<');
    expect(some).toContain('seq 5 to 90 not loaded: load on');
    expect(tree('?show=errors', { total: 12_400, spans })).toContain('Load all 12,400');
  });

  it('comes with its rows where some came with the page: all of them, pulled up to the cursor’s, one selected', () => {
    const steps = Array.from({ length: 60 }, (_, n) => step(40 + n));
    const html = tree('', {
      steps,
      total: 2_500,
      seq: 2 * 87 + 1,
      opening: true,
      spans: [
        [0, 0],
        [79, 199],
      ],
      visits: [{ state: 'plan', visit: 1, key: 'plan#1', enteredSeq: 80, leftSeq: null }] as never,
    });
    expect(html.match(/role="treeitem"/g)).toHaveLength(61);
    expect(html.match(/aria-selected="true"[^>]*aria-label="look#87,/g)).toHaveLength(1);
    // 4 px above the first row, and 49 rows of 24 px up to the end of the cursor's.
    expect(html).toContain('margin-top:calc(100cqh - 1180px)');
    expect(
      tree('', { steps, total: 60, seq: 175, opening: true, spans: [[0, Number.MAX_SAFE_INTEGER]] }),
    ).toContain('margin-top:min(0px, 100cqh - 1180px)');
    expect(html).toContain('>60 of 2,500 steps<');
    expect(html).toContain('>60 loaded<');
    // How many siblings there are is not known, and so not said.
    expect(html).toContain('aria-setsize="-1"');
    expect(html).not.toContain('aria-posinset');
    expect(html).toContain('aria-level="2"');
  });

  it('says of a cancelled run that its question stayed open, and where it was cancelled', () => {
    const asked = step(1, { kind: 'human', effect: null, status: 'waiting', name: 'confirm' });
    const shown = (status: RunSummary['status'], stops: readonly object[]) =>
      tree('', { run: { ...run, status }, steps: [asked], total: 1, stops: stops as never });
    const cancelled = shown('cancelled', [{ kind: 'run.cancelled', seq: 9, reason: 'Wrong document.' }]);
    expect(cancelled).toContain('Stayed open');
    expect(cancelled).not.toMatch(/waiting/i);
    expect(cancelled).toContain('aria-label="Cancelled: Wrong document."');
    expect(cancelled).toContain('class="tree-break" data-tone="neutral"');
    // A person can still answer it.
    expect(shown('interrupted', [])).toContain('Waiting');
  });

  it('names what was looked for in vain as it was written, marks of direction made visible', () => {
    expect(tree(`?find=${encodeURIComponent('x\u202ey')}`)).toContain('No step matches “x⟨U+202E⟩y”');
  });
});

describe('the scrubber', () => {
  const events = [
    { seq: 1, kind: 'run.started', at: 0 },
    { seq: 2, kind: 'run.waiting', at: 1_000 },
    { seq: 3, kind: 'run.resumed', at: 7_201_000 },
    { seq: 4, kind: 'run.completed', at: 7_202_000 },
  ] as never;
  const scrubber = (search: string) =>
    renderToStaticMarkup(
      <NuqsTestingAdapter searchParams={search}>
        <Scrubber
          run={{ ...run, checkpoint: null } as RunSummary}
          headSeq={4}
          seq={2}
          following={false}
          event={events[1]}
          eventAt={() => undefined}
          bars={eventBars(events)}
          steps={[]}
          failures={[]}
          checkpoints={[]}
          visits={visits}
          partial={false}
          onMove={none}
          playing={false}
          onPlay={none}
        />
      </NuqsTestingAdapter>,
    );

  it('folds a wait along time, with how long it was, and not along the events', () => {
    expect(scrubber('?axis=time')).toContain('2 h without an event, after seq 2');
    expect(scrubber('')).not.toContain('without an event');
    expect(scrubber('').match(/class="ev"/g)).toHaveLength(4);
  });

  it('tells those who do not see it where the cursor stands', () => {
    expect(scrubber('')).toMatch(/aria-valuetext="seq 2 of 4, run.waiting, \d\d:00:01/);
  });
});
