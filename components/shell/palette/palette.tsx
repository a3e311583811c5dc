'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Command as Cmdk } from 'cmdk';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useEffect, useMemo, useRef } from 'react';
import { isReadBare } from '@/components/run/use-graphs';
import { useRested } from '@/components/run/use-run';
import { plural, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { hotkeysHere, useMod } from '@/components/ui/hotkeys';
import { toast } from '@/components/ui/toast';
import { problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { everyStepQuery, FOUND, foundRunsQuery } from '@/lib/client/frame-queries';
import { checkpointsQuery, graphQuery, runQuery, stepsQuery } from '@/lib/client/run-queries';
import { planModes } from '@/lib/client/url-state';
import { frameDialogs } from '../frame-dialogs';
import { keyWords } from '../keys';
import {
  type Command,
  checkpointCommands,
  everywhere,
  foundRunCommands,
  keyCommands,
  rowValue,
  runCommands,
  stateCommands,
  stepCommands,
} from './commands';
import { search } from './find';

/** Items of one kind that are shown at once; the rest is found by typing on. */
const MOST = 12;
/** How long the typing rests before the console is asked for runs. */
const TYPING_MS = 150;
const NONE: readonly never[] = [];
/** Stands in queries that are not asked, on pages without a run. */
const NO_RUN = {
  id: '',
  epoch: 0,
  line: 0,
  headSeq: 0,
  edition: 0,
  counts: { checkpoints: 0 },
} as unknown as RunSummary;

interface Group {
  readonly name: string;
  readonly items: readonly Command[];
  readonly total: number;
}

/** The run whose page or plan is open, with what can be found in it. */
function useRunGroups(find: string): {
  readonly run: RunSummary | undefined;
  readonly groups: readonly Group[];
  /** What is still being read, and what could not be. */
  readonly reading: string | undefined;
  readonly problem: Error | undefined;
} {
  const path = usePathname();
  const params = useSearchParams();
  const [, area, id, part] = path.split('/');
  const runId = area === 'runs' && id !== undefined ? decodeURIComponent(id) : undefined;
  const run = useQuery({ ...runQuery(runId ?? ''), enabled: runId !== undefined }).data;
  const known = run !== undefined;
  const asked = find.trim() !== '';
  const of = run ?? NO_RUN;
  const steps = useQuery({ ...stepsQuery(of), enabled: known }).data;
  const partial = steps !== undefined && steps.spans.length > 1;
  const all = useQuery({ ...everyStepQuery(of), enabled: known && asked && partial });
  const checkpoints = useQuery({ ...checkpointsQuery(of), enabled: known }).data?.items;
  const lists = isReadBare(of) ? 'none' : 'all';
  const graph = useQuery({ ...graphQuery(of.id, of.headSeq, lists), enabled: known }).data;
  const plans = part === 'plan';
  const kept = params.toString();
  const { states, stepItems, points } = useMemo(() => {
    const at = (seq: number) => hrefAt(id ?? '', plans ? '' : kept, seq);
    const mode = planModes.find((each) => each === new URLSearchParams(kept).get('mode')) ?? 'resume';
    return {
      states: stateCommands(graph, at),
      stepItems: stepCommands(steps?.items ?? NONE, at),
      points: checkpointCommands(checkpoints ?? NONE, (each) =>
        plans ? planFrom(id ?? '', mode, each.id) : at(each.seq),
      ),
    };
  }, [id, plans, kept, graph, steps, checkpoints]);
  const group = (name: string, items: readonly Command[], most: number): Group => {
    const { shown, total } = search(items, find, most);
    return { name, items: shown, total };
  };
  return {
    run,
    reading: all.isFetching ? 'The steps of this long run are being read…' : undefined,
    problem: all.error ?? undefined,
    groups: asked
      ? [
          group('States', states, MOST),
          group(plans ? 'Start from a checkpoint' : 'Checkpoints', points, MOST),
          group('Steps', stepItems, MOST),
        ]
      : [],
  };
}

/** The run's page at a moment, with the tab and the filter that are chosen there. */
function hrefAt(id: string, kept: string, seq: number): string {
  const params = new URLSearchParams(kept);
  params.delete('open');
  params.delete('command');
  params.set('seq', String(seq));
  return `/runs/${id}?${params}`;
}

const planFrom = (id: string, mode: string, from: string): string =>
  `/runs/${id}/plan?mode=${mode === 'resume' || mode === 'replay' ? 'rewind' : mode}&from=${encodeURIComponent(from)}`;

function useFoundRuns(find: string): {
  readonly runs: Group;
  readonly waits: boolean;
  /** Why they could not be searched. */
  readonly unread: Error | null;
} {
  const sought = useRested(find.trim(), TYPING_MS);
  // Until the answer is there, those of the last one that fit stay: what Enter would open is not taken from under it.
  const found = useQuery({ ...foundRunsQuery(sought), placeholderData: keepPreviousData });
  const waits = found.isFetching || sought !== find.trim();
  const { items = NONE, total = 0 } = found.data ?? {};
  const answered = foundRunCommands(items);
  const fitting = waits
    ? search(answered, find, FOUND)
    : { shown: answered, total: total - (items.length - answered.length) };
  return {
    runs: {
      name: find.trim() === '' ? 'Runs that moved last' : 'Runs',
      items: fitting.shown,
      total: fitting.total,
    },
    waits,
    unread: found.error,
  };
}

/** Runs, and on a run's pages its states, steps and checkpoints, and all that can be done; found by typing. */
export function Palette({ find }: { readonly find: string }) {
  const router = useRouter();
  const mod = useMod();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const { run, groups: ofRun, reading, problem } = useRunGroups(find);
  const here = hotkeysHere();
  const doing = run === undefined ? NONE : runCommands(run, here);
  const keys = [...everywhere, ...keyCommands(here, doing)];
  const asked = find.trim() !== '';
  const { runs, waits, unread } = useFoundRuns(find);
  const commands = (name: string, items: readonly Command[]): Group => {
    const { shown, total } = search(items, find, Number.POSITIVE_INFINITY);
    return { name, items: shown, total };
  };
  const groups = (
    asked
      ? [commands('Commands', [...doing, ...keys]), ...ofRun, runs]
      : [...(run === undefined ? [] : [commands('This run', doing)]), runs, commands('Everywhere', keys)]
  ).filter(({ items }) => items.length > 0);
  const count = groups.reduce((n, { items }) => n + items.length, 0);

  const act = (command: Command) => {
    if (command.reason !== undefined) return;
    frameDialogs.close();
    switch (command.act.kind) {
      case 'go':
        return router.push(command.act.href);
      case 'press':
        return command.act.run();
      case 'copy-link':
        return void copyLink();
    }
  };

  return (
    <Cmdk
      label="Commands"
      shouldFilter={false}
      vimBindings={false}
      loop
      onKeyDown={(event) => {
        if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        frameDialogs.close();
      }}
    >
      <div className="palette-field">
        <Glyph name="search" />
        <Cmdk.Input
          ref={input}
          aria-label="Command"
          placeholder={run === undefined ? 'Run or command' : 'Run, state, step, checkpoint or command'}
          value={find}
          onValueChange={frameDialogs.type}
        />
      </div>
      <Cmdk.List label="Commands" className="palette-list scroll" aria-busy={waits}>
        {groups.map(({ name, items, total }) => (
          <Cmdk.Group
            key={name}
            heading={
              <>
                {name}
                {total > items.length && (
                  <span className="third">
                    {' '}
                    {whole(items.length)} of {whole(total)}: type on for the others
                  </span>
                )}
              </>
            }
          >
            {items.map((command) => (
              <Cmdk.Item key={command.id} value={rowValue(command)} onSelect={() => act(command)} asChild>
                <Row command={command} mod={mod} />
              </Cmdk.Item>
            ))}
          </Cmdk.Group>
        ))}
      </Cmdk.List>
      {unread && (
        <p className="palette-note" role="alert">
          The runs could not be searched: {problemOf(unread).detail}
        </p>
      )}
      {problem && (
        <p className="palette-note" role="alert">
          Not every step could be read: {problemOf(problem).detail}
        </p>
      )}
      {reading && <p className="palette-note">{reading}</p>}
      <p className={count === 0 ? 'palette-note' : 'visually-hidden'} role="status">
        {waits ? 'Searching…' : count === 0 ? `Nothing matches “${find}”.` : plural(count, 'result')}
      </p>
    </Cmdk>
  );
}

function Row({
  command: { glyph, words, note, key, reason },
  mod,
  ...item
}: {
  readonly command: Command;
  readonly mod: string;
}) {
  return (
    <div {...item} aria-disabled={reason !== undefined}>
      <Glyph name={glyph} />
      <span className="clip" title={words}>
        {words}
      </span>
      <span className="grow second small clip">{reason ?? note}</span>
      {key !== undefined && <kbd aria-label={`key ${keyWords(key, mod)}`}>{keyWords(key, mod)}</kbd>}
    </div>
  );
}

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(window.location.href);
    toast.success('The link was copied');
  } catch {
    // No leave to write there, or no secure context.
    toast.error('The browser does not let this page copy; take the link from the address bar');
  }
}
