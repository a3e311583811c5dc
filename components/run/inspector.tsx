'use client';

import { useQueryStates } from 'nuqs';
import { Tabs } from 'radix-ui';
import { whole } from '@/components/ui/format';
import { useFetchedAhead } from '@/components/ui/later';
import { keepScrollKeys } from '@/components/ui/scroll-keys';
import type { InspectorMoment } from './inspector-moment';
import { inspectorTabs, laterTabs, tabParams } from './inspector-tabs';
import { useCounts } from './use-counts';

/** From here on the number alone has room beside the tabs where the window is narrow. */
const LONG = 10_000;

export function Inspector(moment: InspectorMoment) {
  const counts = useCounts(moment);
  const [{ tab }, setParams] = useQueryStates(tabParams, { history: 'replace' });
  useFetchedAhead(laterTabs);
  return (
    <section className="pane" aria-label="Inspector">
      <Tabs.Root
        className="flex min-h-0 flex-1 flex-col"
        value={tab}
        onValueChange={(value) => void setParams({ tab: tabParams.tab.parse(value) })}
      >
        <Tabs.List className="tabs inspector-tabs" aria-label="Inspector">
          {inspectorTabs.map(({ id, name }) => (
            <Tabs.Trigger key={id} value={id}>
              {name}
              {(counts[id] ?? 0) > 0 && <span className="n">{whole(counts[id] ?? 0)}</span>}
            </Tabs.Trigger>
          ))}
          <span className="grow" />
          <span className="at" data-long={moment.seq >= LONG ? '' : undefined}>
            <span>seq</span> {whole(moment.seq)}
          </span>
        </Tabs.List>
        {inspectorTabs.map(({ id, View }) => (
          <Tabs.Content key={id} value={id} className="scroll grow" onKeyDown={keepScrollKeys}>
            <View {...moment} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  );
}
