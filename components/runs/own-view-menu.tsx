'use client';

import { DropdownMenu } from 'radix-ui';
import { Glyph } from '@/components/ui/glyph';
import { useKept } from '@/components/ui/kept';
import { type Press, useFirstItem } from '@/components/ui/opens';
import { movedView, savedViews, withoutView } from './saved-views';

/** What can be done with a view of one's own. Drawn when it is asked for, so it begins open. */
export function OwnViewMenu({
  name,
  onRename,
  asked,
}: {
  readonly name: string;
  readonly onRename: () => void;
  readonly asked: Press;
}) {
  const content = useFirstItem(asked);
  const views = useKept(savedViews);
  const at = views.findIndex((view) => view.name === name);
  const move = (by: -1 | 1) => savedViews.set(movedView(views, name, by));
  return (
    <DropdownMenu.Root defaultOpen>
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
        <DropdownMenu.Content ref={content} className="menu" align="start" sideOffset={4}>
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
