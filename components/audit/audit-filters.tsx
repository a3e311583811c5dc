'use client';

import { useId } from 'react';
import { Button } from '@/components/ui/button';
import type { AuditRow } from '@/lib/client/audit-queries';
import type { AuditView } from '@/lib/client/url-state';
import { auditActions } from '@/lib/core/journal/audit';
import { actionView, actorWords } from './audit-words';

interface FilterProps {
  readonly view: AuditView;
  /** What is shown: its actors are offered. */
  readonly rows: readonly AuditRow[];
  readonly onChange: (change: Partial<AuditView> | null) => void;
}

/** What the list is narrowed by; each filter stands in the address. */
export function AuditFilters({ view, rows, onChange }: FilterProps) {
  const actors = [...new Set([...view.actor, ...rows.map(({ actor }) => actor)])].filter(
    (name) => name !== '',
  );
  return (
    <search className="audit-filters" aria-label="Filters">
      <Choice
        label="Actor"
        value={view.actor[0] ?? ''}
        options={actors.sort().map((actor) => ({ value: actor, word: actorWords({ actor }) }))}
        onChange={(actor) => onChange({ actor: actor === '' ? [] : [actor] })}
      />
      <Choice
        label="Action"
        value={view.action[0] ?? ''}
        options={auditActions.map((action) => ({ value: action, word: actionView[action].word }))}
        onChange={(action) => onChange({ action: auditActions.filter((one) => one === action) })}
      />
      <label>
        Run
        <input
          className="text mono"
          value={view.run}
          placeholder="Run id"
          onChange={(event) => onChange({ run: event.target.value })}
        />
      </label>
      <Day label="From" value={view.from} onChange={(from) => onChange({ from })} />
      <Day label="Before" value={view.to} onChange={(to) => onChange({ to })} />
      <Button size="small" kind="quiet" onPress={() => onChange(null)}>
        Clear
      </Button>
    </search>
  );
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly word: string }[];
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <label htmlFor={id}>
      {label}
      <select id={id} className="text" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">Any</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.word}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A minute in UTC; the address holds the instant. */
function Day({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <label>
      {label} (UTC)
      <input
        className="text mono"
        type="datetime-local"
        value={value.slice(0, 16)}
        onChange={(event) => onChange(event.target.value === '' ? '' : `${event.target.value}:00Z`)}
      />
    </label>
  );
}
