import { parseAsStringLiteral } from 'nuqs';
import type { ComponentType } from 'react';
import { DiffTab } from './inspector-diff';
import { EffectsTab } from './inspector-effects';
import { MessagesTab } from './inspector-messages';
import type { InspectorMoment } from './inspector-moment';
import { StateTab } from './inspector-state';
import { StepTab } from './inspector-step';

interface InspectorView<Id extends string> {
  /** As it stands in the address. */
  readonly id: Id;
  readonly name: string;
  readonly key: string;
  readonly View: ComponentType<InspectorMoment>;
}

const register = <const Id extends string>(views: readonly [InspectorView<Id>, ...InspectorView<Id>[]]) =>
  views;

/** The run views: tabs, keys and addresses of the inspector, in this order. Another one is a line here. */
export const inspectorTabs = register([
  { id: 'step', name: 'Step', key: '1', View: StepTab },
  { id: 'state', name: 'State', key: '2', View: StateTab },
  { id: 'diff', name: 'Diff', key: '3', View: DiffTab },
  { id: 'messages', name: 'Messages', key: '4', View: MessagesTab },
  { id: 'effects', name: 'Effects', key: '5', View: EffectsTab },
]);

/** The open one, in the address. */
export const tabParams = {
  tab: parseAsStringLiteral(inspectorTabs.map(({ id }) => id)).withDefault(inspectorTabs[0].id),
};
