'use client';

import { useRouter } from 'next/navigation';
import { useRef, useState } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { Link } from '@/components/ui/link';

/** A line of the list; `text` is what a search looks through. */
export interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly text: string;
}

const hrefOf = (id: string, search: string) =>
  `/api-reference?op=${id}${search === '' ? '' : `&q=${encodeURIComponent(search)}`}`;

const found = (entries: readonly Entry[], search: string) => {
  const words = search.toLowerCase().split(/\s+/);
  return entries.filter(({ text }) => words.every((word) => text.includes(word)));
};

/** The operations by group, with a search. Without scripts the search is a form that asks the server. */
export function OperationList({
  entries,
  current,
  search: given,
}: {
  readonly entries: readonly Entry[];
  readonly current: string | undefined;
  readonly search: string;
}) {
  const router = useRouter();
  const [search, setSearch] = useState(given);
  const box = useRef<HTMLInputElement>(null);
  const shown = found(entries, search);
  const go = (step: number) => {
    const at = shown.findIndex(({ id }) => id === current);
    const next = shown[at === -1 ? 0 : at + step];
    if (next !== undefined) router.push(hrefOf(next.id, search));
  };
  useHotkeys([
    { key: '/', what: 'Search the API', run: () => box.current?.focus() },
    { key: 'j', what: 'Next operation', run: () => go(1) },
    { key: 'k', what: 'Operation before', run: () => go(-1) },
  ]);
  const tags = [...new Set(shown.map(({ tag }) => tag))];
  return (
    <div className="operations">
      <search>
        <form
          className="field"
          action="/api-reference"
          onSubmit={(event) => {
            event.preventDefault();
            const [first] = shown;
            if (first !== undefined) router.push(hrefOf(first.id, search));
          }}
        >
          <Glyph name="search" />
          <input
            ref={box}
            type="search"
            name="q"
            value={search}
            placeholder="Search the API"
            aria-label="Search the API"
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={(event) =>
              event.key === 'Escape' && (search === '' ? event.currentTarget.blur() : setSearch(''))
            }
          />
          <kbd>/</kbd>
        </form>
      </search>
      <p className="visually-hidden" role="status">
        {search === '' ? '' : `${shown.length} operations found`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <nav className="scroll" aria-label="Operations" tabIndex={0}>
        {tags.map((tag) => (
          <section key={tag}>
            <h2>{tag}</h2>
            <ul>
              {shown
                .filter((entry) => entry.tag === tag)
                .map(({ id, method, path, summary }) => (
                  <li key={id}>
                    <Link
                      href={hrefOf(id, search)}
                      aria-current={id === current ? 'page' : undefined}
                      title={`${method} ${path}`}
                    >
                      <b className="method" data-method={method}>
                        {method}
                      </b>
                      <span className="clip">{summary}</span>
                    </Link>
                  </li>
                ))}
            </ul>
          </section>
        ))}
        {shown.length === 0 && <p className="second p-3">Nothing of the API has these words.</p>}
      </nav>
    </div>
  );
}
