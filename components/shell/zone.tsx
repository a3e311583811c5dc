'use client';

import { Glyph } from '@/components/ui/glyph';
import { setZone, useZone } from '@/components/ui/zone';

/** The zone that all times are shown in, and the way to the other one: kept in this browser. */
export function Zone() {
  const zone = useZone();
  const [here, other] = zone === 'utc' ? ['UTC', 'this browser’s zone'] : ['this browser’s zone', 'UTC'];
  return (
    <button
      type="button"
      aria-label={`Times in ${here}; show them in ${other}`}
      title={`Times in ${here}. Click to show them in ${other}; kept in this browser.`}
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
    >
      <Glyph name="k-wait" />
      <span className="word">{zone === 'utc' ? 'Times in UTC' : 'Browser’s zone'}</span>
    </button>
  );
}
