'use client';

import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { useKept } from '@/components/ui/kept';
import { useZone } from '@/components/ui/zone';
import type { RunsFilter } from '@/lib/client/url-state';
import { filterWords, searchOf } from './filters';
import { MOST_NAME, refusedName, renamed, savedViews, withView } from './saved-views';

/** Saves the filters under a name, or gives the view `from` another one. */
export function NameDialog({
  filter,
  taken,
  from,
  onClose,
}: {
  readonly filter: RunsFilter;
  /** Names of the views that every browser has. */
  readonly taken: readonly string[];
  readonly from?: string;
  readonly onClose: () => void;
}) {
  const zone = useZone();
  const views = useKept(savedViews);
  const [name, setName] = useState(from ?? '');
  const refused = refusedName(views, name, taken, from);
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
