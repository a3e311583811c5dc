'use client';

import { useQueryStates } from 'nuqs';
import { Tabs } from 'radix-ui';
import { keepScrollKeys } from '@/components/ui/scroll-keys';
import type { CheckpointRow, RunSummary, StepRow } from '@/lib/client/api-types';
import { type InspectorTab, inspectorTabs, runParams } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';
import { DiffTab } from './inspector-diff';
import { EffectsTab } from './inspector-effects';
import { MessagesTab } from './inspector-messages';
import { StateTab } from './inspector-state';
import { StepTab } from './inspector-step';
import type { Move } from './use-run';

const words = {
  step: 'Step',
  state: 'State',
  diff: 'Diff',
  messages: 'Messages',
  effects: 'Effects',
} as const satisfies Record<InspectorTab, string>;

interface Props {
  readonly run: RunSummary;
  readonly step: StepRow | undefined;
  /** The one at the cursor, where it is loaded. */
  readonly event: RunEvent | undefined;
  readonly seq: number;
  /** The cursor once it rests: what the server is asked about. */
  readonly settled: number;
  readonly checkpoints: readonly CheckpointRow[];
  readonly onMove: Move;
}

export function Inspector({ run, step, event, seq, settled, checkpoints, onMove }: Props) {
  const [{ tab }, setParams] = useQueryStates({ tab: runParams.tab }, { history: 'replace' });
  return (
    <section className="pane" aria-label="Inspector">
      <Tabs.Root
        className="flex min-h-0 flex-1 flex-col"
        value={tab}
        onValueChange={(value) => void setParams({ tab: value as InspectorTab })}
      >
        <Tabs.List className="tabs" aria-label="Inspector">
          {inspectorTabs.map((each) => (
            <Tabs.Trigger key={each} value={each}>
              {words[each]}
            </Tabs.Trigger>
          ))}
          <span className="grow" />
          <span className="at">seq {seq}</span>
        </Tabs.List>
        <Tabs.Content value="step" className="scroll grow" onKeyDown={keepScrollKeys}>
          <StepTab run={run} step={step} event={event} seq={seq} checkpoints={checkpoints} onMove={onMove} />
        </Tabs.Content>
        <Tabs.Content value="state" className="scroll grow" onKeyDown={keepScrollKeys}>
          <StateTab runId={run.id} seq={settled} />
        </Tabs.Content>
        <Tabs.Content value="diff" className="scroll grow" onKeyDown={keepScrollKeys}>
          <DiffTab runId={run.id} seq={settled} step={step} checkpoints={checkpoints} />
        </Tabs.Content>
        <Tabs.Content value="messages" className="scroll grow" onKeyDown={keepScrollKeys}>
          <MessagesTab runId={run.id} seq={settled} />
        </Tabs.Content>
        <Tabs.Content value="effects" className="scroll grow" onKeyDown={keepScrollKeys}>
          <EffectsTab run={run} seq={settled} onMove={onMove} />
        </Tabs.Content>
      </Tabs.Root>
    </section>
  );
}
