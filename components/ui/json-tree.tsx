'use client';

import { type ReactNode, useState } from 'react';
import { partEnd, seen, whole } from './format';
import { keepScrollKeys } from './scroll-keys';

const FEW = 100;
const LONG_TEXT = 2_000;
const INDENT = 14;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function LongText({ value }: { readonly value: string }) {
  const [most, setMost] = useState(LONG_TEXT);
  const shown = partEnd(value, most);
  const rest = value.length - shown;
  return (
    <span className="s wrap-anywhere whitespace-pre-wrap">
      {seen(JSON.stringify(value.slice(0, shown)))}
      {rest > 0 && (
        <button type="button" className="link" onClick={() => setMost(most * 10)}>
          {' '}
          … {whole(rest)} more characters
        </button>
      )}
    </span>
  );
}

function Scalar({ value }: { readonly value: unknown }) {
  if (typeof value === 'string')
    return value.length > LONG_TEXT ? (
      <LongText value={value} />
    ) : (
      <span className="s wrap-anywhere whitespace-pre-wrap">{seen(JSON.stringify(value))}</span>
    );
  return <span className="n">{String(value)}</span>;
}

/** `{ 3 }` or `[ 12 ]`, for a folded value. */
const summaryOf = (value: object) =>
  Array.isArray(value) ? `[ ${value.length} ]` : `{ ${Object.keys(value).length} }`;

function Branch({
  name,
  value,
  depth,
  openTo,
}: {
  readonly name: string | undefined;
  readonly value: Readonly<Record<string, unknown>>;
  readonly depth: number;
  readonly openTo: number;
}) {
  const [open, setOpen] = useState(depth < openTo);
  const [shown, setShown] = useState(FEW);
  const array = Array.isArray(value);
  const keys = open ? Object.keys(value) : [];
  const label = name === undefined ? null : <span className="k">{seen(name)}: </span>;
  const line = (content: ReactNode) => (
    <span className="l" style={{ paddingLeft: 10 + depth * INDENT }}>
      {content}
    </span>
  );
  return (
    <>
      {line(
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className="c" aria-hidden="true">
            {open ? '▾ ' : '▸ '}
          </span>
          {label}
          <span className="c">{open ? (array ? '[' : '{') : summaryOf(value)}</span>
        </button>,
      )}
      {keys.slice(0, shown).map((key) => (
        <JsonNode
          key={key}
          name={array ? key : JSON.stringify(key)}
          value={value[key]}
          depth={depth + 1}
          openTo={openTo}
        />
      ))}
      {keys.length > shown &&
        line(
          <button type="button" className="link" onClick={() => setShown(shown + FEW * 10)}>
            {whole(shown)} of {whole(keys.length)}: show more
          </button>,
        )}
      {open && line(<span className="c">{array ? ']' : '}'}</span>)}
    </>
  );
}

function JsonNode({
  name,
  value,
  depth,
  openTo,
}: {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly depth: number;
  readonly openTo: number;
}) {
  if (isObject(value) && Object.keys(value).length > 0)
    return <Branch name={name} value={value} depth={depth} openTo={openTo} />;
  return (
    <span className="l" style={{ paddingLeft: 10 + depth * INDENT + 15 }}>
      {name !== undefined && <span className="k">{seen(name)}: </span>}
      {isObject(value) ? (
        <span className="c">{Array.isArray(value) ? '[]' : '{}'}</span>
      ) : (
        <Scalar value={value} />
      )}
    </span>
  );
}

/** A JSON value as text, folded below `openTo` levels; long lists and texts come in parts, nothing is cut away. */
export function JsonTree({
  value,
  label,
  openTo = 2,
}: {
  readonly value: unknown;
  readonly label: string;
  readonly openTo?: number;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="code json" aria-label={label} tabIndex={0} onKeyDown={keepScrollKeys}>
      <JsonNode name={undefined} value={value} depth={0} openTo={openTo} />
    </section>
  );
}

const PART = 64_000;

/**
 * A long text by its parts of 64,000 characters, one at a time: the browser lays out as little of 3 MB as of 64 KB, and
 * all of it can be reached.
 */
export function LongPlainText({ text, label }: { readonly text: string; readonly label: string }) {
  const [from, setFrom] = useState(0);
  const to = partEnd(text, from + PART);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section key={from} className="code plain" aria-label={label} tabIndex={0} onKeyDown={keepScrollKeys}>
        {seen(text.slice(from, to))}
      </section>
      {text.length > PART && (
        <p className="mt-1 flex flex-wrap items-center gap-2 small second">
          {whole(from + 1)} to {whole(to)} of {whole(text.length)} characters
          {from > 0 && (
            <button type="button" className="link" onClick={() => setFrom(partEnd(text, from - PART))}>
              The part before
            </button>
          )}
          {to < text.length && (
            <button type="button" className="link" onClick={() => setFrom(to)}>
              The next part
            </button>
          )}
        </p>
      )}
    </>
  );
}
