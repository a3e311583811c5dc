import { clock, zoneAt } from '@/components/ui/format';
import { LiveDot } from '@/components/ui/live-dot';
import { useZone } from '@/components/ui/zone';
import type { Liveness } from '@/lib/client/live';

/** A strip over what may be behind. Nothing while the page is live. */
export function NotLive({ liveness }: { readonly liveness: Liveness }) {
  const zone = useZone();
  if (liveness.kind !== 'lost') return null;
  return (
    <div className="notice" data-tone="attention">
      <LiveDot
        liveness="lost"
        word={`Not live since ${clock(liveness.since, zone).slice(0, 8)} ${zoneAt(liveness.since, zone)}`}
      />
      <span className="second">
        The console does not answer. What is shown may be out of date; it is tried again by itself.
      </span>
    </div>
  );
}
