'use client';

import { Dialog } from 'radix-ui';
import { useModEnter } from '@/components/ui/hotkeys';
import { setSingleKeys, useSingleKeys } from '@/components/ui/single-keys';

/** As the page's keys are named; it stands otherwise on each keyboard. */
const MOD_ENTER = 'Mod+Enter';

const groups: readonly { readonly name: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    name: 'Everywhere',
    keys: [
      ['?', 'this list'],
      ['⇧ D', 'light or dark'],
      ['Esc', 'up one level'],
    ],
  },
  {
    name: 'Lists',
    keys: [
      ['/', 'search the runs'],
      ['J K', 'row down, row up'],
      ['↵', 'open'],
      ['R', 'plan a resume'],
    ],
  },
  {
    name: 'Run',
    keys: [
      ['← →', 'one event'],
      ['⇧ ← →', 'one step'],
      ['Home End', 'first event, newest'],
      ['Space', 'play'],
      ['C', 'next checkpoint'],
      ['E', 'next effect'],
      ['1 – 5', 'inspector tab'],
      ['R', 'plan a resume'],
      ['B', 'fork from the cursor'],
      ['P', 'replay'],
    ],
  },
  {
    name: 'Plan',
    keys: [
      ['V', 'ask the provider'],
      [MOD_ENTER, 'do what the button says'],
    ],
  },
];

export function KeysDialog({
  open,
  onOpenChange,
}: {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}) {
  const single = useSingleKeys();
  const modEnter = useModEnter();
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog keys-dialog" aria-describedby={undefined}>
          <header>
            <Dialog.Title>Keys</Dialog.Title>
            <span className="grow" />
            <Dialog.Close className="btn" data-kind="quiet" data-size="small">
              Close <kbd>Esc</kbd>
            </Dialog.Close>
          </header>
          <div className="key-cols">
            {groups.map((group) => (
              <section key={group.name}>
                <h3>{group.name}</h3>
                <dl>
                  {group.keys.map(([key, what]) => (
                    <div key={key}>
                      <dt>
                        <kbd>{key === MOD_ENTER ? modEnter : key}</kbd>
                      </dt>
                      <dd>{what}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
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
