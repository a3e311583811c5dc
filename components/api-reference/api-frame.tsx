'use client';

import { type ReactNode, useState } from 'react';
import { matches } from '@/lib/client/api-reference';
import { type Entry, OperationList } from './operation-list';

/** The page around one operation: how many there are, or match, and all of them with a search. */
export function ApiFrame({
  entries,
  current,
  search: given,
  children,
}: {
  readonly entries: readonly Entry[];
  readonly current: string | undefined;
  readonly search: string;
  readonly children: ReactNode;
}) {
  const [search, setSearch] = useState(given);
  const found = entries.filter(({ text }) => matches(text, search));
  const all = search.trim() === '';
  return (
    <main className="page api">
      <header className="page-head">
        <h1>API</h1>
        <span className="second" role="status" aria-label="Operations shown">
          {all ? entries.length : `${found.length} of ${entries.length}`} operations
        </span>
        <span className="grow" />
        <a className="link" href="/api/v1/openapi.json">
          openapi.json
        </a>
      </header>
      <div className="api-body">
        <OperationList found={found} current={current} search={search} onSearch={setSearch} />
        {children}
      </div>
    </main>
  );
}
