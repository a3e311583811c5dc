'use client';

import { Popover } from 'radix-ui';
import type { RunSummary } from '@/lib/client/api-types';
import { FactList } from './run-facts';

/** Every fact of the run, under the number of those that found no room. Drawn when it is asked for, so it begins open. */
export function AllFacts({ run, hidden }: { readonly run: RunSummary; readonly hidden: number }) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger className="facts-more" aria-label={`${hidden} more facts of the run`}>
        +{hidden}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="menu facts-all" align="start" sideOffset={4} aria-label="All facts">
          <FactList run={run} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
