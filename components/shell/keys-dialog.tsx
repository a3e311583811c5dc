'use client';

import { Dialog } from 'radix-ui';
import { Fragment } from 'react';
import { type Hotkey, hotkeysHere, useMod } from '@/components/ui/hotkeys';
import { setSingleKeys, useSingleKeys } from '@/components/ui/single-keys';
import { frameDialogs } from './frame-dialogs';
import { capsOf, keyGroups, type ListedKey } from './keys';
import type { Opener } from './use-opener';

/** Keys of two or more that belong together stand side by side; those of a row of numbers as its ends. */
function Caps({ keys, mod }: { readonly keys: readonly string[]; readonly mod: string }) {
  const shown = keys.length > 2 ? [keys[0] ?? '', 'to', keys.at(-1) ?? ''] : keys;
  return shown.map((key) =>
    key === 'to' ? (
      <span key={key}>to</span>
    ) : (
      <Fragment key={key}>
        {capsOf(key, mod).map((cap, n) => (
          <Fragment key={cap}>
            {n > 0 && key.includes(' ') && <span>then</span>}
            <kbd>{cap}</kbd>
          </Fragment>
        ))}
      </Fragment>
    ),
  );
}

/** Listed keys of the page that do nothing on it now: those of other pages. */
const isElsewhere = ({ keys, within }: ListedKey, here: readonly Hotkey[]): boolean =>
  within === undefined && !keys.every((key) => here.some((each) => each.key === key));

function Keys({ here, mod }: { readonly here: readonly Hotkey[]; readonly mod: string }) {
  const listed = new Set(keyGroups.flatMap((group) => group.keys.flatMap(({ keys }) => keys)));
  const unlisted = here.filter(({ key }) => !listed.has(key)).map(({ key, what }) => ({ keys: [key], what }));
  const groups = unlisted.length === 0 ? keyGroups : [...keyGroups, { name: 'Here', keys: unlisted }];
  return (
    <div className="key-cols">
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name}>
          <h3>{group.name}</h3>
          <dl>
            {group.keys.map((each) => (
              <div
                key={each.keys.join()}
                data-keys={each.keys.join(', ')}
                data-elsewhere={isElsewhere(each, here) ? '' : undefined}
              >
                <dt>
                  <Caps keys={each.keys} mod={mod} />
                </dt>
                <dd>
                  {each.what}
                  {'within' in each && each.within !== undefined && (
                    <span className="third"> in {each.within}</span>
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}

/** Every key; those that do nothing on the page beneath stand back. */
export function KeysDialog({ open, opener }: { readonly open: boolean; readonly opener: Opener }) {
  const single = useSingleKeys();
  const mod = useMod();
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && frameDialogs.close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog keys-dialog" aria-describedby={undefined} {...opener}>
          <header>
            <Dialog.Title>Keys</Dialog.Title>
            <span className="grow" />
            <Dialog.Close className="btn" data-kind="quiet" data-size="small">
              Close <kbd>Esc</kbd>
            </Dialog.Close>
          </header>
          <Keys here={hotkeysHere()} mod={mod} />
          <label className="keys-setting">
            <input
              type="checkbox"
              checked={single}
              onChange={(event) => setSingleKeys(event.target.checked)}
            />
            Keys of one character do something, such as R and ?. Off, arrows, Esc and keys with Ctrl or ⌘
            still do.
          </label>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
