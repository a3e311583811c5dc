'use client';

import { DropdownMenu, Popover } from 'radix-ui';
import { type ReactNode, useId, useRef, useState } from 'react';
import { runStatusView, sourceWord } from '@/components/run/views';
import { Button } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';
import { Mark } from '@/components/ui/mark';
import { useZone } from '@/components/ui/zone';
import { type RunsFilter, runStatuses } from '@/lib/client/url-state';
import {
  type Chip,
  chipsOf,
  type Field,
  fieldNames,
  fields,
  fromField,
  type Negatable,
  negated,
  toField,
  withinWords,
} from './filters';

type Change = (change: Partial<RunsFilter>) => void;

/** Values that the rows on screen have, offered where one is typed. */
export interface Known {
  readonly agent: readonly string[];
  readonly tag: readonly string[];
  readonly source: readonly string[];
}

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
  const chosen = useRef<Field | undefined>(undefined);
  const chips = chipsOf(filter, zone);
  // A field that has no chip yet is edited at the place where it was chosen.
  const fresh = open !== undefined && !chips.some(({ id }) => id === open) ? open : undefined;
  const editor = (id: Chip['id']) => (
    <Editor id={id} filter={filter} known={known} onChange={onChange} onMoved={setOpen} />
  );
  return (
    <fieldset className="filters" aria-label="Filters">
      {chips.map((chip) => (
        <Popover.Root
          key={chip.id}
          open={open === chip.id}
          onOpenChange={(to) => setOpen(to ? chip.id : undefined)}
        >
          <Popover.Anchor asChild>
            <span className="chip">
              <Popover.Trigger className="chip-edit" title="Edit this filter">
                {fieldNames[chip.field]} {chip.op !== '' && <span className="op">{chip.op}</span>}{' '}
                <span className="clip" dir="auto">
                  {chip.value}
                </span>
              </Popover.Trigger>
              <button
                type="button"
                onClick={() => onChange(chip.without)}
                aria-label={`Remove the filter ${[fieldNames[chip.field], chip.op, chip.value].join(' ')}`}
              >
                <Glyph name="x" />
              </button>
            </span>
          </Popover.Anchor>
          <Pane field={chip.field}>{editor(chip.id)}</Pane>
        </Popover.Root>
      ))}
      <Popover.Root open={fresh !== undefined} onOpenChange={(to) => !to && setOpen(undefined)}>
        <DropdownMenu.Root>
          <Popover.Anchor asChild>
            <DropdownMenu.Trigger className="chip" data-kind="add">
              <Glyph name="plus" /> Filter
            </DropdownMenu.Trigger>
          </Popover.Anchor>
          <DropdownMenu.Portal>
            <DropdownMenu.Content
              className="menu"
              align="start"
              sideOffset={4}
              onCloseAutoFocus={(event) => {
                // The focus goes on to what was chosen: back at the button it would close that again.
                if (chosen.current === undefined) return;
                event.preventDefault();
                setOpen(chosen.current);
                chosen.current = undefined;
              }}
            >
              {fields.map((field) => (
                <DropdownMenu.Item
                  key={field}
                  onSelect={() => {
                    chosen.current = field;
                  }}
                >
                  {fieldNames[field]}
                </DropdownMenu.Item>
              ))}
            </DropdownMenu.Content>
          </DropdownMenu.Portal>
        </DropdownMenu.Root>
        {fresh !== undefined && <Pane field={fieldOf(fresh)}>{editor(fresh)}</Pane>}
      </Popover.Root>
      {(chips.length > 0 || filter.q !== '') && (
        <Button kind="quiet" size="small" onPress={onClear} title="Take all filters away">
          Clear
        </Button>
      )}
      {children}
    </fieldset>
  );
}

const fieldOf = (id: Chip['id']): Field =>
  (Object.keys(negated) as readonly Negatable[]).find((field) => negated[field] === id) ?? (id as Field);

function Pane({ field, children }: { readonly field: Field; readonly children: ReactNode }) {
  return (
    <Popover.Portal>
      <Popover.Content
        className="menu pane-menu"
        align="start"
        sideOffset={4}
        aria-label={`Filter by ${fieldNames[field].toLowerCase()}`}
      >
        {children}
      </Popover.Content>
    </Popover.Portal>
  );
}

interface EditorProps {
  readonly id: Chip['id'];
  readonly filter: RunsFilter;
  readonly known: Known;
  readonly onChange: Change;
  /** The chip that is edited is another one from now on. */
  readonly onMoved: (id: Chip['id']) => void;
}

function Editor(props: EditorProps) {
  const { filter, onChange } = props;
  const field = fieldOf(props.id);
  switch (field) {
    case 'status':
      return <StatusEditor filter={filter} onChange={onChange} />;
    case 'agent':
    case 'tag':
    case 'source':
      return <ListEditor {...props} field={field} />;
    case 'started':
      return <StartedEditor filter={filter} onChange={onChange} />;
    case 'inDoubt':
      return (
        <Choice
          legend="Runs with"
          value={filter.inDoubt}
          yes="an effect in doubt"
          no="no effect in doubt"
          onChoose={(inDoubt) => onChange({ inDoubt })}
        />
      );
    case 'attention':
      return (
        <Choice
          legend="Runs that"
          value={filter.attention}
          yes="stand until a person acts"
          no="need nobody"
          onChoose={(attention) => onChange({ attention })}
        />
      );
    case 'failure':
      return (
        <label className="block">
          <span className="small second">The failure’s text has</span>
          <input
            className="text"
            // biome-ignore lint/a11y/noAutofocus: the pane was opened to type here
            autoFocus
            value={filter.failure}
            maxLength={256}
            onChange={(event) => onChange({ failure: event.target.value })}
          />
        </label>
      );
  }
}

function StatusEditor({ filter, onChange }: Pick<EditorProps, 'filter' | 'onChange'>) {
  return (
    <fieldset>
      <legend className="small second">Runs that are</legend>
      {runStatuses.map((status) => (
        <label key={status} className="option">
          <input
            type="checkbox"
            checked={filter.status.includes(status)}
            onChange={(event) =>
              onChange({
                status: event.target.checked
                  ? [...filter.status, status]
                  : filter.status.filter((each) => each !== status),
              })
            }
          />
          <Mark view={runStatusView[status]} />
        </label>
      ))}
    </fieldset>
  );
}

function Choice(props: {
  readonly legend: string;
  readonly value: boolean | null;
  readonly yes: string;
  readonly no: string;
  readonly onChoose: (value: boolean) => void;
}) {
  const name = useId();
  return (
    <fieldset>
      <legend className="small second">{props.legend}</legend>
      {([true, false] as const).map((value) => (
        <label key={String(value)} className="option">
          <input
            type="radio"
            name={name}
            checked={props.value === value}
            onChange={() => props.onChoose(value)}
          />
          {value ? props.yes : props.no}
        </label>
      ))}
    </fieldset>
  );
}

/** Names that a run has, or has not. */
function ListEditor({
  id,
  field,
  filter,
  known,
  onChange,
  onMoved,
}: EditorProps & { readonly field: Negatable }) {
  const name = useId();
  const list = useId();
  const [text, setText] = useState('');
  const not = id !== field;
  const key = not ? negated[field] : field;
  const other = not ? field : negated[field];
  const values = filter[key];
  const put = (next: readonly string[]) => onChange({ [key]: [...new Set(next)] });
  const add = () => {
    if (text.trim() === '') return;
    put([...values, text.trim()]);
    setText('');
  };
  const flip = () => {
    onChange({ [key]: [], [other]: [...new Set([...filter[other], ...values])] });
    onMoved(other);
  };
  const word = (value: string) => (field === 'source' ? sourceWord(value) : value);
  return (
    <fieldset>
      <legend className="visually-hidden">{fieldNames[field]}</legend>
      <div className="flex gap-3">
        {([false, true] as const).map((isNot) => (
          <label key={String(isNot)} className="option">
            <input type="radio" name={name} checked={not === isNot} onChange={flip} />
            {isNot ? 'is not' : 'is'}
          </label>
        ))}
      </div>
      <ul>
        {values.map((value) => (
          <li key={value} className="option">
            <span className="grow clip" dir="auto" title={value}>
              {word(value)}
            </span>
            <Button
              kind="quiet"
              size="small"
              glyph="x"
              label={`Take ${word(value)} away`}
              onPress={() => put(values.filter((each) => each !== value))}
            />
          </li>
        ))}
      </ul>
      <input
        className="text"
        // biome-ignore lint/a11y/noAutofocus: the pane was opened to type here
        autoFocus
        list={list}
        aria-label={`Filter by ${fieldNames[field].toLowerCase()}`}
        placeholder={values.length === 0 ? `${fieldNames[field]}, then Enter` : 'another one'}
        value={text}
        maxLength={128}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
        onBlur={add}
      />
      <datalist id={list}>
        {known[field]
          .filter((value) => !values.includes(value))
          .map((value) => (
            <option key={value} value={value}>
              {word(value)}
            </option>
          ))}
      </datalist>
    </fieldset>
  );
}

const spans = ['1h', 'today', '24h', '7d', '30d'] as const;

function StartedEditor({ filter, onChange }: Pick<EditorProps, 'filter' | 'onChange'>) {
  const name = useId();
  const zone = useZone();
  const zoneWord = zone === 'utc' ? 'UTC' : 'this browser’s zone';
  const between = (change: Pick<Partial<RunsFilter>, 'from' | 'to'>) => onChange({ within: '', ...change });
  const offered =
    filter.within === '' || spans.some((span) => span === filter.within) ? spans : [...spans, filter.within];
  return (
    <fieldset>
      <legend className="small second">Runs that were started</legend>
      {offered.map((span) => (
        <label key={span} className="option">
          <input
            type="radio"
            name={name}
            checked={filter.within === span}
            onChange={() => onChange({ within: span, from: '', to: '' })}
          />
          {span === 'today' ? 'today' : `within ${withinWords(span)}`}
        </label>
      ))}
      <label className="mt-2 block">
        <span className="small second">From ({zoneWord})</span>
        <input
          className="text"
          type="datetime-local"
          value={toField(filter.from, zone)}
          onChange={(event) => between({ from: fromField(event.target.value, zone) })}
        />
      </label>
      <label className="mt-2 block">
        <span className="small second">To ({zoneWord})</span>
        <input
          className="text"
          type="datetime-local"
          value={toField(filter.to, zone)}
          onChange={(event) => between({ to: fromField(event.target.value, zone) })}
        />
      </label>
    </fieldset>
  );
}
