import { PageLink as Link } from '@/components/ui/confined';
import { absolute, seen } from '@/components/ui/format';
import { useZone } from '@/components/ui/zone';
import type { RunSummary } from '@/lib/client/api-types';
import { runHref } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';
import { eventFacts } from './event-facts';
import { PayloadView } from './payload-view';
import { isFromTrace, sourceWord } from './views';

/** The event at the cursor, as the journal holds it: who wrote it, and all that it says. */
export function EventSection({
  run,
  event,
}: {
  readonly run: Pick<RunSummary, 'home' | 'source'>;
  readonly event: RunEvent;
}) {
  const zone = useZone();
  const facts = eventFacts(event, zone);
  return (
    <section className="section" aria-label="Event">
      <h3>
        Event <code>{event.kind}</code>
      </h3>
      <p className="small third">
        {isFromTrace(run)
          ? `read from ${sourceWord(run.source)}`
          : `by the ${event.by}, epoch ${event.epoch}`}
        , {absolute(event.at, zone)}
      </p>
      {event.inherited && (
        <p className="small second">
          Inherited from{' '}
          <Link className="link" href={runHref(event.inherited.runId, event.inherited.seq)}>
            {event.inherited.runId}, seq {event.inherited.seq}
          </Link>
        </p>
      )}
      <dl className="kv">
        {facts.map((fact) =>
          fact.kind === 'text' ? (
            <div key={fact.name} className="contents">
              <dt>{fact.name}</dt>
              <dd className="whole">
                <bdi>{seen(fact.text)}</bdi>
              </dd>
            </div>
          ) : null,
        )}
      </dl>
      {facts.map((fact) =>
        fact.kind === 'payload' ? (
          <div key={fact.name} className="mt-2">
            <p className="small second">{fact.name}</p>
            <PayloadView key={fact.payload.sha256} label={`Event, ${fact.name}`} payload={fact.payload} />
          </div>
        ) : null,
      )}
    </section>
  );
}
