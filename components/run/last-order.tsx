'use client';

import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { moment } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { ProblemNote } from '@/components/ui/problem-note';
import { useZone } from '@/components/ui/zone';
import { problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { endedOrderQuery } from '@/lib/client/order-events';

const orderWord = {
  resume: 'The resume',
  rewind: 'The rewind',
  fork: 'The fork',
  replay: 'The replay',
  verify: 'The question to downstream',
  decide: 'The decision',
  answer: 'The answer',
  pause: 'The pause',
  cancel: 'The cancel',
} as const;

/**
 * An order that was accepted and not carried out, with the reason, until the next one is given. `failure`: what the page
 * tells itself; an order that it ended is not told again.
 */
export const LastOrder = memo(function LastOrder({
  runId,
  failure = null,
}: {
  readonly runId: string;
  readonly failure?: RunSummary['failure'];
}) {
  const query = useQuery(endedOrderQuery(runId));
  const zone = useZone();
  if (query.isError)
    return (
      <ProblemNote
        title="What became of the last order could not be read"
        detail={problemOf(query.error).detail}
      />
    );
  if (!query.data || query.data.ended.outcome === 'done') return null;
  const { accepted, ended } = query.data;
  // Code and record differed: the order was carried out as far as they agreed.
  if (failure?.cause === 'diverged' && ended.detail === failure.error.message) return null;
  return (
    <section
      className="situation"
      data-tone={ended.outcome === 'refused' ? 'bad' : 'neutral'}
      aria-label="Last order"
    >
      <Glyph name={ended.outcome === 'refused' ? 's-failed' : 's-cancelled'} />
      <p>
        <strong>
          {orderWord[accepted.mode]} of {accepted.actor} was {ended.outcome}.
        </strong>{' '}
        {ended.detail !== undefined && `${ended.detail.replace(/[.]?$/, '.')} `}
        <span className="second">
          Accepted {moment(accepted.at, zone)}
          {accepted.reason !== '' && `, reason: ${accepted.reason}`}
        </span>
      </p>
    </section>
  );
});
