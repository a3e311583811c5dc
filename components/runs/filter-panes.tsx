'use client';

import { DropdownMenu, Popover } from 'radix-ui';
import { type RefObject, useId, useRef, useState } from 'react';
import { runStatusView, sourceWord } from '@/components/run/views';
import { Button } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';
import { Mark } from '@/components/ui/mark';
import { type Press, useFirstItem } from '@/components/ui/opens';
import { useZone } from '@/components/ui/zone';
import { type RunsFilter, runStatuses } from '@/lib/client/url-state';
import {
  type Change,
  type Chip,
  type Field,
  fieldNames,
  fields,
  fromField,
  type Known,
  type Negatable,
  negated,
  toField,
  withinWords,
} from './filters';

/* What the filters open. */

/** The fields that the runs can be filtered by. Drawn when it is asked for, so it begins open. */
export function FilterMenu({
  onChoose,
  asked,
}: {
  readonly onChoose: (field: Field) => void;
  readonly asked: Press;
}) {
  const content = useFirstItem(asked);
  const chosen = useRef<Field | undefined>(undefined);
  return (
    <DropdownMenu.Root defaultOpen>
      <DropdownMenu.Trigger className="chip" data-kind="add">
        <Glyph name="plus" /> Filter
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          ref={content}
          className="menu"
          align="start"
          sideOffset={4}
          onCloseAutoFocus={(event) => {
            // The focus goes on to what was chosen: back at the button it would close that again.
            if (chosen.current === undefined) return;
            event.preventDefault();
            onChoose(chosen.current);
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
  );
}

const fieldOf = (id: Chip['id']): Field =>
  (Object.keys(negated) as readonly Negatable[]).find((field) => negated[field] === id) ?? (id as Field);

interface EditorProps {
  readonly id: Chip['id'];
  readonly filter: RunsFilter;
  readonly known: Known;
  readonly onChange: Change;
  /** The chip that is edited is another one from now on. */
  readonly onMoved: (id: Chip['id']) => void;
}

/** Edits one filter, below what it hangs on; that has the focus again where the keyboard closed it. */
export function FilterPane({
  anchor,
  onClose,
  ...editor
}: EditorProps & { readonly anchor: RefObject<HTMLElement | null>; readonly onClose: () => void }) {
  const goneOn = useRef(false);
  return (
    <Popover.Root open onOpenChange={(to) => !to && onClose()}>
      <Popover.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      <Popover.Portal>
        <Popover.Content
          className="menu pane-menu"
          align="start"
          sideOffset={4}
          aria-label={`Filter by ${fieldNames[fieldOf(editor.id)].toLowerCase()}`}
          onInteractOutside={(event) => {
            goneOn.current = true;
            // Its own button closes it by itself.
            if (event.target instanceof Node && anchor.current?.contains(event.target))
              event.preventDefault();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // Another pane may have taken its place.
            if (!goneOn.current && document.activeElement === document.body)
              anchor.current?.querySelector('button')?.focus();
          }}
        >
          <Editor {...editor} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
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
