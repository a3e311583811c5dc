'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { plural, seen, size } from '@/components/ui/format';
import { LongPlainText } from '@/components/ui/json-tree';
import { EmptyNote, Skeleton } from '@/components/ui/problem-note';
import { Ago } from '@/components/ui/time';
import type { MessageRow } from '@/lib/client/api-types';
import { messagesQuery, payloadQuery } from '@/lib/client/run-queries';
import type { InspectorMoment } from './inspector-moment';
import { wordsOf } from './message-words';
import { Unread } from './unread';

/** Loaded with the list; larger ones when opened. */
const SMALL = 16_000;
const FOLDED = 280;

function Message({ row }: { readonly row: MessageRow }) {
  const [open, setOpen] = useState(false);
  const payload = useQuery({
    ...payloadQuery(row.message.sha256),
    enabled: open || row.message.bytes <= SMALL,
  });
  const words = payload.data === undefined ? undefined : wordsOf(payload.data);
  const long = words !== undefined && words.length > FOLDED;
  return (
    <li className="msg">
      <header>
        <b>{row.role}</b>
        <span>#{row.n}</span>
        <span>seq {row.seq}</span>
        {row.inherited && <span>inherited</span>}
        <span className="grow" />
        <Ago at={row.at} />
      </header>
      {words === undefined ? (
        payload.isError ? (
          <Unread what="This message" error={payload.error} onAgain={payload.refetch} />
        ) : (
          <Button size="small" onPress={() => setOpen(true)}>
            Load {size(row.message.bytes)}
          </Button>
        )
      ) : open ? (
        <LongPlainText label={`Message ${row.n}`} text={words} />
      ) : (
        <p className="break-words whitespace-pre-wrap">{seen(words.slice(0, FOLDED * 2))}</p>
      )}
      {long && (
        <button type="button" className="link small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Fold' : 'Show all of it'}
        </button>
      )}
    </li>
  );
}

const PAGE = 50;

export function MessagesTab({ run, settled }: Pick<InspectorMoment, 'run' | 'settled'>) {
  const [limit, setLimit] = useState(PAGE);
  const query = useQuery(messagesQuery(run.id, settled, limit));
  if (query.isError) return <Unread what="The messages" error={query.error} onAgain={query.refetch} />;
  if (!query.data) return <Skeleton rows={6} />;
  const { items, total } = query.data;
  if (items.length === 0) return <EmptyNote title="No message yet at this moment" />;
  return (
    <>
      <p className="section small second">
        {items.length} of {total} messages at the cursor
        {items.length < total && (
          <button type="button" className="link" onClick={() => setLimit(limit + PAGE * 2)}>
            {' '}
            Show older ones
          </button>
        )}
      </p>
      <ul aria-label="Messages">
        {items
          .toSorted((a, b) => a.n - b.n)
          .map((row) => (
            <Message key={`${row.n} ${row.seq}`} row={row} />
          ))}
      </ul>
    </>
  );
}

/** What the API gives at once. */
const MOST = 10_000;

function FirstRows({ runId, seq, count }: FirstProps) {
  const [shown, setShown] = useState(PAGE);
  const total = useQuery(messagesQuery(runId, seq, 1)).data?.total ?? count;
  // The newest come first: those after the ones that are asked for are passed over.
  const query = useQuery(messagesQuery(runId, seq, Math.min(MOST, total - count + shown)));
  if (query.isError) return <Unread what="The messages" error={query.error} onAgain={query.refetch} />;
  if (!query.data) return <Skeleton rows={3} />;
  const rows = query.data.items.filter(({ n }) => n <= count).toSorted((a, b) => a.n - b.n);
  return (
    <>
      {rows.length < count && (
        <button type="button" className="link small" onClick={() => setShown(shown + PAGE * 2)}>
          Show older ones
        </button>
      )}
      <ul aria-label="Messages that the request begins with">
        {rows.map((row) => (
          <Message key={`${row.n} ${row.seq}`} row={row} />
        ))}
      </ul>
    </>
  );
}

interface FirstProps {
  readonly runId: string;
  readonly seq: number;
  readonly count: number;
}

/** The first `count` messages of the conversation at `seq`; folded, and loaded when unfolded. */
export function FirstMessages(props: FirstProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="small second">
        Begins with the first {props.count === 1 ? 'message' : plural(props.count, 'message')} of the
        conversation
      </summary>
      {open && <FirstRows {...props} />}
    </details>
  );
}
