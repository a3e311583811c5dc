'use client';

import { useQuery } from '@tanstack/react-query';
import { memo, useMemo, useState } from 'react';
import { Button } from '@/components/ui/button';
import { size } from '@/components/ui/format';
import { JsonTree, LongPlainText } from '@/components/ui/json-tree';
import { payloadQuery } from '@/lib/client/run-queries';
import type { PayloadRef } from '@/lib/core/events/payload';
import { Unread } from './unread';

/** Loaded without being asked for. */
const AT_ONCE = 64_000;
/** Above this, a JSON text is shown as text first. */
const TREE = 512_000;

/** JSON where it parses; a text that does not is shown as it is. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function Loaded({
  text,
  codec,
  label,
}: {
  readonly text: string;
  readonly codec: PayloadRef['codec'];
  readonly label: string;
}) {
  const [asTree, setAsTree] = useState(text.length <= TREE);
  const json = useMemo(
    () => (codec === 'json' && asTree ? parseJson(text) : undefined),
    [text, codec, asTree],
  );
  if (json)
    return typeof json.value === 'string' ? (
      <LongPlainText text={json.value} label={label} />
    ) : (
      <JsonTree value={json.value} label={label} />
    );
  return (
    <>
      {codec === 'bytes' && text.includes('\ufffd') && (
        <p className="small second">Bytes, not all of them text: each � stands for some that are not.</p>
      )}
      <LongPlainText text={text} label={label} />
      {codec === 'json' && !asTree && (
        <Button size="small" kind="quiet" onPress={() => setAsTree(true)}>
          Show as a tree
        </Button>
      )}
    </>
  );
}

/** A recorded value, always as text. Large ones load when asked for. */
export const PayloadView = memo(function PayloadView({
  payload,
  label,
}: {
  readonly payload: PayloadRef;
  readonly label: string;
}) {
  const [asked, setAsked] = useState(false);
  const query = useQuery({ ...payloadQuery(payload.sha256), enabled: asked || payload.bytes <= AT_ONCE });
  if (query.data !== undefined)
    return <Loaded key={payload.sha256} text={query.data} codec={payload.codec} label={label} />;
  if (query.isError) return <Unread what={label} error={query.error} onAgain={query.refetch} />;
  if (query.fetchStatus === 'fetching')
    return <div className="skeleton" role="status" aria-label={`Loading ${label}`} />;
  return (
    <Button size="small" onPress={() => setAsked(true)}>
      Load {size(payload.bytes)}
    </Button>
  );
});
