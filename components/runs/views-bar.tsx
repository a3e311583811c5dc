'use client';

import { useQueries } from '@tanstack/react-query';
import { createLoader } from 'nuqs/server';
import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useKept } from '@/components/ui/kept';
import { Later, part, useFetchedAhead } from '@/components/ui/later';
import { Link } from '@/components/ui/link';
import { OpensLater } from '@/components/ui/opens';
import { useZone } from '@/components/ui/zone';
import { runsCountQuery } from '@/lib/client/run-queries';
import { type RunsFilter, runsFilterParams, runsHref } from '@/lib/client/url-state';
import { filterWords, noFilter, searchOf } from './filters';
import { savedViews } from './saved-views';

const ownViewMenu = part(() => import('./own-view-menu').then((module) => module.OwnViewMenu));
const nameDialog = part(() => import('./name-dialog').then((module) => module.NameDialog));
const pressedLater = [nameDialog];

/** The views that every browser has. */
const usual: readonly { readonly name: string; readonly filter: RunsFilter; readonly title: string }[] = [
  { name: 'All runs', filter: noFilter, title: 'Every run, without a filter' },
  {
    name: 'Needs a person',
    filter: { ...noFilter, attention: true },
    title:
      'Runs that stand until a person acts: they ask, are paused or interrupted, or have an effect in doubt',
  },
  {
    name: 'Effects in doubt',
    filter: { ...noFilter, inDoubt: true },
    title: 'Runs with an effect of which nobody knows whether it happened, however they ended',
  },
  {
    name: 'Failed today',
    filter: { ...noFilter, status: ['failed'], within: 'today' },
    title: 'Runs that were started today and failed',
  },
  {
    name: 'Running',
    filter: { ...noFilter, status: ['running', 'queued'] },
    title: 'Runs that are running or queued',
  },
];

const taken = usual.map(({ name }) => name);

const load = createLoader(runsFilterParams);

interface Shown {
  readonly name: string;
  readonly search: string;
  readonly filter: RunsFilter;
  readonly title: string;
  readonly own: boolean;
}

function useViews(): readonly Shown[] {
  const zone = useZone();
  const own = useKept(savedViews);
  return [
    ...usual.map((view) => ({ ...view, search: searchOf(view.filter), own: false })),
    ...own.map(({ name, search }) => {
      const filter = load(`?${search}`);
      const words = filterWords(filter, zone);
      return { name, search, filter, own: true, title: words.length === 0 ? 'Every run' : words.join('; ') };
    }),
  ];
}

/** The views as tabs: each is a link to the list with its filters. */
export function ViewsBar({
  filter,
  midnight,
  saving,
  onSaving,
}: {
  readonly filter: RunsFilter;
  readonly midnight: () => number;
  /** Whether the dialog to save a view is open. */
  readonly saving: boolean;
  readonly onSaving: (open: boolean) => void;
}) {
  useFetchedAhead(pressedLater);
  const views = useViews();
  const here = searchOf(filter);
  const counts = useQueries({ queries: views.map((view) => runsCountQuery(view.filter, midnight)) });
  const current = views.find(({ search }) => search === here);
  const [renaming, setRenaming] = useState<string | undefined>();
  return (
    <nav className="tabs views" aria-label="Views">
      {views.map((view, n) => {
        const count = counts[n]?.data;
        return (
          <Link
            key={`${view.own} ${view.name}`}
            href={runsHref(view.search)}
            replace
            title={view.title}
            aria-current={view === current ? 'page' : undefined}
          >
            <span className="clip" dir="auto">
              {view.name}
            </span>
            {count !== undefined && <span className="n">{whole(count)}</span>}
          </Link>
        );
      })}
      {current?.own === true ? (
        <OpensLater
          key={current.name}
          of={ownViewMenu}
          role="menu"
          className="btn"
          data-kind="quiet"
          data-size="small"
          data-icon=""
          aria-label={`Change the view ${current.name}`}
          props={{ name: current.name, onRename: () => setRenaming(current.name) }}
        >
          <Glyph name="dots" />
        </OpensLater>
      ) : (
        current === undefined && (
          <Button kind="quiet" size="small" glyph="bookmark" onPress={() => onSaving(true)}>
            Save view
          </Button>
        )
      )}
      <span className="grow" />
      <span className="keys hide-narrow" aria-hidden="true">
        <kbd>J</kbd>
        <kbd>K</kbd> move
      </span>
      <span className="keys hide-narrow" aria-hidden="true">
        <kbd>X</kbd> select
      </span>
      <span className="keys hide-narrow" aria-hidden="true">
        <kbd>↵</kbd> open
      </span>
      <span className="keys hide-narrow" aria-hidden="true">
        <kbd>R</kbd> resume…
      </span>
      {saving && <Later of={nameDialog} shown props={{ filter, taken, onClose: () => onSaving(false) }} />}
      {renaming !== undefined && (
        <Later
          of={nameDialog}
          shown
          props={{ filter, taken, from: renaming, onClose: () => setRenaming(undefined) }}
        />
      )}
    </nav>
  );
}
