import { parseAsStringLiteral } from 'nuqs';
import type { ComponentType } from 'react';
import { Later, type Part, part } from '@/components/ui/later';
import { Skeleton } from '@/components/ui/problem-note';
import type { InspectorMoment } from './inspector-moment';
import { StepTab } from './inspector-step';

/** The tabs that nobody looks at first. */
const later = {
  state: part(() => import('./inspector-state').then((module) => module.StateTab)),
  diff: part(() => import('./inspector-diff').then((module) => module.DiffTab)),
  messages: part(() => import('./inspector-messages').then((module) => module.MessagesTab)),
  effects: part(() => import('./inspector-effects').then((module) => module.EffectsTab)),
};
export const laterTabs = Object.values(later);

const come =
  <Props extends object>(tab: Part<Props>) =>
  (moment: InspectorMoment & Props) => (
    <Later of={tab} shown fills instead={<Skeleton rows={6} />} props={moment} />
  );

interface InspectorView<Id extends string> {
  /** As it stands in the address. */
  readonly id: Id;
  readonly name: string;
  readonly key: string;
  readonly View: ComponentType<InspectorMoment>;
}

const register = <const Id extends string>(views: readonly [InspectorView<Id>, ...InspectorView<Id>[]]) =>
  views;

/** The run views: tabs, keys and addresses of the inspector, in this order. Another one is a part and a line here. */
export const inspectorTabs = register([
  { id: 'step', name: 'Step', key: '1', View: StepTab },
  { id: 'state', name: 'State', key: '2', View: come(later.state) },
  { id: 'diff', name: 'Diff', key: '3', View: come(later.diff) },
  { id: 'messages', name: 'Messages', key: '4', View: come(later.messages) },
  { id: 'effects', name: 'Effects', key: '5', View: come(later.effects) },
]);

/** The open one, in the address. */
export const tabParams = {
  tab: parseAsStringLiteral(inspectorTabs.map(({ id }) => id)).withDefault(inspectorTabs[0].id),
};
