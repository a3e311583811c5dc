'use client';

import { useRouter } from 'next/navigation';
import { useRef } from 'react';
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

/** The operations by group, with a search. Without scripts the search is a form that asks the server. */
export function OperationList({
  found,
  current,
  search,
  onSearch,
}: {
  readonly found: readonly Entry[];
  readonly current: string | undefined;
  readonly search: string;
  readonly onSearch: (search: string) => void;
}) {
  const router = useRouter();
  const box = useRef<HTMLInputElement>(null);
  const go = (step: number) => {
    const at = found.findIndex(({ id }) => id === current);
    const next = found[at === -1 ? 0 : at + step];
    if (next !== undefined) router.push(hrefOf(next.id, search));
  };
  useHotkeys([
    { key: '/', what: 'Search the API', run: () => box.current?.focus() },
    { key: 'j', what: 'Next operation', run: () => go(1) },
    { key: 'k', what: 'Operation before', run: () => go(-1) },
  ]);
  const tags = [...new Set(found.map(({ tag }) => tag))];
  return (
    <div className="operations">
      <search>
        <form
          className="field"
          action="/api-reference"
          onSubmit={(event) => {
            event.preventDefault();
            const [first] = found;
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
            onChange={(event) => onSearch(event.target.value)}
            onKeyDown={(event) =>
              event.key === 'Escape' && (search === '' ? event.currentTarget.blur() : onSearch(''))
            }
          />
          <kbd>/</kbd>
        </form>
      </search>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <nav className="scroll" aria-label="Operations" tabIndex={0}>
        {tags.map((tag) => (
          <section key={tag}>
            <h2>{tag}</h2>
            <ul>
              {found
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
        {found.length === 0 && <p className="second p-3">Nothing of the API has these words.</p>}
      </nav>
    </div>
  );
}
