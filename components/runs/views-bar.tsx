'use client';

import { useQueries } from '@tanstack/react-query';
import { createLoader } from 'nuqs/server';
import { Dialog, DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useKept } from '@/components/ui/kept';
import { Link } from '@/components/ui/link';
import { useZone } from '@/components/ui/zone';
import { runsCountQuery } from '@/lib/client/run-queries';
import { type RunsFilter, runsFilterParams, runsHref } from '@/lib/client/url-state';
import { filterWords, noFilter, searchOf } from './filters';
import { MOST_NAME, movedView, refusedName, renamed, savedViews, withoutView, withView } from './saved-views';

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
        <OwnViewMenu name={current.name} onRename={() => setRenaming(current.name)} />
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
      {saving && <NameDialog filter={filter} onClose={() => onSaving(false)} />}
      {renaming !== undefined && (
        <NameDialog filter={filter} from={renaming} onClose={() => setRenaming(undefined)} />
      )}
    </nav>
  );
}

function OwnViewMenu({ name, onRename }: { readonly name: string; readonly onRename: () => void }) {
  const views = useKept(savedViews);
  const at = views.findIndex((view) => view.name === name);
  const move = (by: -1 | 1) => savedViews.set(movedView(views, name, by));
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        className="btn"
        data-kind="quiet"
        data-size="small"
        data-icon=""
        aria-label={`Change the view ${name}`}
      >
        <Glyph name="dots" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
          <DropdownMenu.Item onSelect={() => setTimeout(onRename)}>Rename…</DropdownMenu.Item>
          <DropdownMenu.Item disabled={at <= 0} onSelect={() => move(-1)}>
            Move to the left
          </DropdownMenu.Item>
          <DropdownMenu.Item disabled={at >= views.length - 1} onSelect={() => move(1)}>
            Move to the right
          </DropdownMenu.Item>
          <DropdownMenu.Item onSelect={() => savedViews.set(withoutView(views, name))}>
            Delete
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** Saves the filters under a name, or gives the view `from` another one. */
function NameDialog({
  filter,
  from,
  onClose,
}: {
  readonly filter: RunsFilter;
  readonly from?: string;
  readonly onClose: () => void;
}) {
  const zone = useZone();
  const views = useKept(savedViews);
  const [name, setName] = useState(from ?? '');
  const refused = refusedName(
    views,
    name,
    usual.map((view) => view.name),
    from,
  );
  const words = filterWords(filter, zone);
  const save = () => {
    savedViews.set(
      from === undefined
        ? withView(views, { name: name.trim(), search: searchOf(filter) })
        : renamed(views, from, name),
    );
    onClose();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog w-[460px]">
          <header>
            <Dialog.Title>{from === undefined ? 'Save view' : 'Rename the view'}</Dialog.Title>
          </header>
          <form
            className="p-4"
            onSubmit={(event) => {
              event.preventDefault();
              if (refused === undefined) save();
            }}
          >
            <Dialog.Description className="second">
              Views are kept in this browser. Whoever is to see this one elsewhere can be sent the page’s
              address.
            </Dialog.Description>
            {from === undefined && (
              <p className="mt-2 break-words">
                {words.length === 0 ? 'Every run, without a filter.' : `${words.join('; ')}.`}
              </p>
            )}
            <label className="mt-3 block">
              <span className="small second">Name</span>
              <input
                className="text"
                value={name}
                maxLength={MOST_NAME}
                onChange={(event) => setName(event.target.value)}
              />
            </label>
            <p className="small second mt-1" role="status">
              {name !== '' && refused}
            </p>
            <div className="mt-3 flex justify-end gap-2">
              <Button onPress={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" onPress={() => undefined} reason={refused}>
                {from === undefined ? 'Save' : 'Rename'}
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
