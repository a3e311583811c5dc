'use client';

import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { Button } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';
import { Later, PartMissing, part, usePress } from '@/components/ui/later';
import { OpensLater } from '@/components/ui/opens';
import { useZone } from '@/components/ui/zone';
import type { RunsFilter } from '@/lib/client/url-state';
import { type Change, type Chip, chipsOf, fieldNames, type Known } from './filters';

const filterMenu = part(() => import('./filter-panes').then((module) => module.FilterMenu));
const filterPane = part(() => import('./filter-panes').then((module) => module.FilterPane));

interface Props {
  readonly filter: RunsFilter;
  readonly known: Known;
  readonly onChange: Change;
  readonly onClear: () => void;
  /** What stands at the end of the line. */
  readonly children?: ReactNode;
}

/** The filters as chips: each is edited in place, its cross takes it away. */
export function RunsFilters({ filter, known, onChange, onClear, children }: Props) {
  const zone = useZone();
  const [open, setOpen] = useState<Chip['id'] | undefined>();
  const add = useRef<HTMLSpanElement>(null);
  const chips = chipsOf(filter, zone);
  // A field that has no chip yet is edited at the place where it was chosen.
  const fresh = open !== undefined && !chips.some(({ id }) => id === open) ? open : undefined;
  const pane = (id: Chip['id'], anchor: RefObject<HTMLElement | null>) => (
    <Later
      key={id}
      of={filterPane}
      shown
      props={{ id, anchor, filter, known, onChange, onMoved: setOpen, onClose: () => setOpen(undefined) }}
    />
  );
  return (
    <fieldset className="filters" aria-label="Filters">
      {chips.map((chip) => (
        <FilterChip
          key={chip.id}
          chip={chip}
          isOpen={open === chip.id}
          onOpen={(to) => setOpen(to ? chip.id : undefined)}
          onRemove={() => onChange(chip.without)}
          pane={pane}
        />
      ))}
      <span ref={add} className="inline-flex">
        <OpensLater
          of={filterMenu}
          role="menu"
          className="chip"
          data-kind="add"
          props={{ onChoose: setOpen }}
        >
          <Glyph name="plus" /> Filter
        </OpensLater>
      </span>
      {fresh !== undefined && pane(fresh, add)}
      {(chips.length > 0 || filter.q !== '') && (
        <Button kind="quiet" size="small" onPress={onClear} title="Take all filters away">
          Clear
        </Button>
      )}
      {children}
    </fieldset>
  );
}

function FilterChip({
  chip,
  isOpen,
  onOpen,
  onRemove,
  pane,
}: {
  readonly chip: Chip;
  readonly isOpen: boolean;
  readonly onOpen: (open: boolean) => void;
  readonly onRemove: () => void;
  /** What edits it, hung on that. */
  readonly pane: (id: Chip['id'], anchor: RefObject<HTMLElement | null>) => ReactNode;
}) {
  const place = useRef<HTMLSpanElement>(null);
  const { busy, again, press } = usePress(filterPane);
  const name = fieldNames[chip.field];
  return (
    <>
      <span className="chip" ref={place}>
        <button
          type="button"
          className="chip-edit"
          title="Edit this filter"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          aria-busy={busy || undefined}
          onClick={({ currentTarget }) => (isOpen ? onOpen(false) : press(currentTarget, () => onOpen(true)))}
        >
          {name} {chip.op !== '' && <span className="op">{chip.op}</span>}{' '}
          <span className="clip" dir="auto">
            {chip.value}
          </span>
        </button>
        <button
          type="button"
          onClick={onRemove}
          aria-label={`Remove the filter ${[name, chip.op, chip.value].join(' ')}`}
        >
          <Glyph name="x" />
        </button>
      </span>
      {isOpen && pane(chip.id, place)}
      {again !== undefined && <PartMissing beside again={again} />}
    </>
  );
}
