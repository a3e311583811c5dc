'use client';

import { useId } from 'react';
import { fromField, toField } from '@/components/runs/filters';
import { Button } from '@/components/ui/button';
import { useZone } from '@/components/ui/zone';
import type { AuditRow } from '@/lib/client/audit-queries';
import type { AuditView } from '@/lib/client/url-state';
import { auditActions } from '@/lib/core/journal/audit';
import { actionView, actorWords, auditFilterWords } from './audit-words';

interface FilterProps {
  readonly view: AuditView;
  /** What is shown: its actors are offered. */
  readonly rows: readonly AuditRow[];
  readonly onChange: (change: Partial<AuditView> | null) => void;
}

/** What the list is narrowed by; each filter stands in the address. */
export function AuditFilters({ view, rows, onChange }: FilterProps) {
  const zone = useZone();
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
      {rows.length > 0 && auditFilterWords(view, zone).length > 0 && (
        <Button size="small" kind="quiet" onPress={() => onChange(null)}>
          Clear the filters
        </Button>
      )}
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

/** A minute in the zone that is set; the address holds the instant. */
function Day({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const zone = useZone();
  return (
    <label>
      {label} ({zone === 'utc' ? 'UTC' : 'this browser’s zone'})
      <input
        className="text mono"
        type="datetime-local"
        value={toField(value, zone)}
        onChange={(event) => onChange(fromField(event.target.value, zone))}
      />
    </label>
  );
}
