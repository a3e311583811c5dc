import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { ApiProblem } from '@/lib/client/api';
import type { EffectRow, PlanAnswer, RunSummary } from '@/lib/client/api-types';
import { workersQuery } from '@/lib/client/workers';
import { DriftStrip } from './drift-strip';
import { PlanFoot } from './plan-foot';
import { InTheWay } from './plan-side';
import { Refusal } from './refusal';

/* What stands around the plan says no more than is so. */

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
const inClient = (node: ReactNode, client = new QueryClient()) =>
  renderToStaticMarkup(<QueryClientProvider client={client}>{node}</QueryClientProvider>);

const stale = {
  kind: 'stale-plan',
  title: 'stale',
  detail: '',
  errors: [],
  members: {},
} as unknown as ApiProblem;

it('a refused plan is to be pressed again only where nothing stands in its way', () => {
  const said = (blocked: string | undefined) =>
    textOf(renderToStaticMarkup(<Refusal problem={stale} different={['the machine']} blocked={blocked} />));
  expect(said(undefined)).toContain('different in it: the machine. Read it, then press again.');
  expect(said('Today’s machine differs.')).toContain(
    'It cannot be ordered as it stands: Today’s machine differs.',
  );
  expect(said('Today’s machine differs.')).not.toContain('press again');
});

it('says in the foot that an order waits where nobody may claim it, and who holds the run once', () => {
  const plan = { digest: 'd'.repeat(64) } as PlanAnswer;
  const foot = (more: { held?: string; locked?: string; queued?: string }) =>
    textOf(
      renderToStaticMarkup(
        <PlanFoot
          plan={plan}
          held={more.held}
          words="Resume: 1 step will really run once a worker claims it"
          glyph="resume"
          hotkey=""
          locked={more.locked}
          queued={more.queued}
          reason=""
          onReason={() => undefined}
          onBack={() => undefined}
          onGive={() => undefined}
        />,
      ),
    );
  expect(foot({ queued: 'The order is queued.' })).toContain('The order is queued.');
  expect(foot({ locked: 'Decide first.', queued: 'The order is queued.' })).not.toContain('queued');
  const held = foot({ held: 'Held by eu-1 since 02:28:02 UTC', locked: 'Held by eu-1.' });
  expect(held.match(/Held by/g)).toHaveLength(1);
});

const run = { id: 'run_1', agent: 'desk', holder: null, epoch: 2 } as unknown as RunSummary;
const planOf = (more: object) =>
  ({
    mode: 'resume',
    machineDigest: 'd1',
    steps: [],
    obstacles: [],
    drift: { source: 'worker', differences: [], blocked: false },
    ...more,
  }) as unknown as PlanAnswer;

it('names a difference by what it does, and no lease where nothing is left to do', () => {
  const client = new QueryClient();
  client.setQueryData(workersQuery.queryKey, [] as never);
  const strip = (more: object) => textOf(inClient(<DriftStrip run={run} plan={planOf(more)} />, client));
  const difference = {
    path: '/tools/send',
    grade: 'block',
    sentence: 'Tool send was added.',
    recorded: null,
    now: 1,
  };
  const drift = { source: 'worker', differences: [difference], blocked: true };
  expect(strip({ drift })).toContain('Tool send was added. (stops the resume)');
  expect(strip({ drift, mode: 'replay' })).toContain('(stops the replay)');
  expect(strip({ drift, mode: 'replay' })).not.toContain('runs through differences');
  expect(strip({})).toContain('Machine as recorded');
  expect(strip({})).toContain('lease free, takes epoch 3');
  const over = strip({
    obstacles: [{ kind: 'nothing-to-do', sentence: 'The run has completed.', stepKey: null }],
  });
  expect(over).not.toMatch(/lease|worker/);
});

it('leads from an effect in the way to where it can be asked about or decided', () => {
  const stepKey = 'pay#1/send#1';
  const way = (ownerRunId: string, status: string) =>
    inClient(
      <InTheWay
        run={run}
        plan={planOf({ mode: 'fork', steps: [{ key: stepKey, ownerRunId, intentSeq: 9 }] })}
        obstacles={[{ kind: 'blocked', stepKey, sentence: 'send: Nothing is sent.' }] as never}
        effects={[{ stepKey, runId: ownerRunId, intentSeq: 9, status }] as unknown as EffectRow[]}
      />,
    );
  expect(way('run_1', 'in-doubt')).toMatch(/href="\/runs\/run_1\/plan[^"]*".*of this run/s);
  expect(way('run_2', 'in-doubt')).toMatch(/href="\/runs\/run_2\/plan[^"]*".*of that run/s);
  // Not in a line of text, where a link would need more than its colour.
  expect(way('run_1', 'in-doubt')).toMatch(/<p><a /);
  expect(way('run_1', 'intended')).toMatch(/href="\/runs\/run_1\?seq=9".*Look at it in this run/s);
});
