'use client';

import type { Field } from './schema-fields';

interface Props {
  readonly fields: readonly Field[];
  readonly texts: Readonly<Record<string, string>>;
  readonly onChange: (name: string, text: string) => void;
}

function Control({
  field,
  text,
  onChange,
}: {
  readonly field: Field;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  if (field.kind === 'boolean' || field.kind === 'choice') {
    const choices =
      field.kind === 'boolean'
        ? ([
            ['true', 'Yes'],
            ['false', 'No'],
          ] as const)
        : field.choices.map(
            (each) => [JSON.stringify(each), typeof each === 'string' ? each : JSON.stringify(each)] as const,
          );
    return (
      <select
        className="text h-[26px]"
        aria-label={field.title}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">choose…</option>
        {choices.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === 'json')
    return (
      <textarea
        className="text mono"
        rows={3}
        aria-label={field.title}
        value={text}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <input
      className="text"
      inputMode={field.kind === 'text' ? 'text' : 'decimal'}
      aria-label={field.title}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Fields of a form made from a JSON Schema. The texts live with the caller. */
export function SchemaForm({ fields, texts, onChange }: Props) {
  return fields.map((field) => (
    <div key={field.name} className="mt-2 block">
      <span className="small">
        {field.title}
        {!field.required && <span className="third"> optional</span>}
      </span>
      <Control
        field={field}
        text={texts[field.name] ?? field.initial}
        onChange={(text) => onChange(field.name, text)}
      />
      {field.hint !== undefined && <span className="third small">{field.hint}</span>}
    </div>
  ));
}
