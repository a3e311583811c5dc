'use client';

import { DropdownMenu } from 'radix-ui';
import { Glyph } from '@/components/ui/glyph';
import { type Press, useFirstItem } from '@/components/ui/opens';
import { type Column, type ColumnName, columns } from './columns';

/** Which columns the list has. Drawn when it is asked for, so it begins open. */
export function ColumnsMenu({
  shown,
  onChoose,
  asked,
}: {
  readonly shown: readonly Column[];
  /** Null: the usual ones. */
  readonly onChoose: (names: readonly ColumnName[] | null) => void;
  readonly asked: Press;
}) {
  const content = useFirstItem(asked);
  const has = (name: ColumnName) => shown.some((column) => column.name === name);
  return (
    <DropdownMenu.Root defaultOpen>
      <DropdownMenu.Trigger className="btn" data-kind="quiet" data-size="small">
        <Glyph name="columns" />
        Columns
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content ref={content} className="menu" align="end" sideOffset={4}>
          {columns.map(({ name, title, fixed }) => (
            <DropdownMenu.CheckboxItem
              key={name}
              checked={has(name)}
              disabled={fixed === true}
              onSelect={(event) => event.preventDefault()}
              onCheckedChange={(on) =>
                onChoose(
                  columns.map((column) => column.name).filter((each) => (each === name ? on : has(each))),
                )
              }
            >
              <span className="grow">{title}</span>
              <DropdownMenu.ItemIndicator>
                <Glyph name="s-completed" />
              </DropdownMenu.ItemIndicator>
            </DropdownMenu.CheckboxItem>
          ))}
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Item onSelect={() => onChoose(null)}>The usual columns</DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
