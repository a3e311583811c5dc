'use client';

import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { runStatusView } from '@/components/run/views';
import { Button } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';
import { Mark } from '@/components/ui/mark';
import { type RunsView, runStatuses } from '@/lib/client/url-state';

interface Props {
  readonly view: RunsView;
  readonly onChange: (change: Partial<RunsView>) => void;
  readonly onClear: () => void;
}

function Chip({
  name,
  value,
  onRemove,
}: {
  readonly name: string;
  readonly value: string;
  readonly onRemove: () => void;
}) {
  return (
    <span className="chip">
      <span>
        {name} <span className="op">is</span> {value}
      </span>
      <button type="button" onClick={onRemove} aria-label={`Remove the filter ${name} ${value}`}>
        <Glyph name="x" />
      </button>
    </span>
  );
}

/** A field whose text becomes a filter on Enter. */
function AddFilter({ name, onAdd }: { readonly name: string; readonly onAdd: (value: string) => void }) {
  const [text, setText] = useState('');
  return (
    <label className="field filter-field">
      <span className="small">{name}</span>
      <input
        aria-label={`Filter by ${name.toLowerCase()}`}
        value={text}
        size={9}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || text.trim() === '') return;
          onAdd(text.trim());
          setText('');
        }}
      />
    </label>
  );
}

/** `datetime-local` holds no zone: the console reads and shows UTC. */
const toLocal = (iso: string) =>
  iso === '' || Number.isNaN(Date.parse(iso)) ? '' : new Date(iso).toISOString().slice(0, 16);
const fromLocal = (local: string) => (local === '' ? '' : `${local}:00Z`);

export function RunsFilters({ view, onChange, onClear }: Props) {
  const any =
    view.status.length + view.agent.length + view.tag.length > 0 ||
    view.q !== '' ||
    view.from !== '' ||
    view.to !== '';
  return (
    <fieldset className="filters" aria-label="Filters">
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className="chip" data-kind="add" aria-label="Filter by status">
          <Glyph name="plus" /> Status
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
            {runStatuses.map((status) => (
              <DropdownMenu.CheckboxItem
                key={status}
                checked={view.status.includes(status)}
                onSelect={(event) => event.preventDefault()}
                onCheckedChange={(on) =>
                  onChange({
                    status: on ? [...view.status, status] : view.status.filter((each) => each !== status),
                  })
                }
              >
                <span className="grow">
                  <Mark view={runStatusView[status]} />
                </span>
                <DropdownMenu.ItemIndicator>
                  <Glyph name="s-completed" />
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.CheckboxItem>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <AddFilter name="Agent" onAdd={(agent) => onChange({ agent: [...new Set([...view.agent, agent])] })} />
      <AddFilter name="Tag" onAdd={(tag) => onChange({ tag: [...new Set([...view.tag, tag])] })} />
      <label className="field filter-field">
        <span className="small">From (UTC)</span>
        <input
          type="datetime-local"
          aria-label="Created from (UTC)"
          value={toLocal(view.from)}
          onChange={(event) => onChange({ from: fromLocal(event.target.value) })}
        />
      </label>
      <label className="field filter-field">
        <span className="small">To (UTC)</span>
        <input
          type="datetime-local"
          aria-label="Created to (UTC)"
          value={toLocal(view.to)}
          onChange={(event) => onChange({ to: fromLocal(event.target.value) })}
        />
      </label>
      {view.status.map((status) => (
        <Chip
          key={status}
          name="Status"
          value={runStatusView[status].word}
          onRemove={() => onChange({ status: view.status.filter((each) => each !== status) })}
        />
      ))}
      {view.agent.map((agent) => (
        <Chip
          key={agent}
          name="Agent"
          value={agent}
          onRemove={() => onChange({ agent: view.agent.filter((each) => each !== agent) })}
        />
      ))}
      {view.tag.map((tag) => (
        <Chip
          key={tag}
          name="Tag"
          value={tag}
          onRemove={() => onChange({ tag: view.tag.filter((each) => each !== tag) })}
        />
      ))}
      {any && (
        <Button kind="quiet" size="small" onPress={onClear}>
          Clear
        </Button>
      )}
    </fieldset>
  );
}
