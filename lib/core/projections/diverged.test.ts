import { expect, it } from 'vitest';
import { TestLineage } from '../../testing/random-journal';
import { stepKey } from '../events/ids';
import type { NewEvent } from '../events/run-event';

const found: NewEvent = {
  kind: 'divergence.found',
  stepKey: stepKey('work#1/look#1'),
  what: 'input',
  sentence: 'look was asked with other arguments',
};
const diverged: NewEvent = {
  kind: 'run.failed',
  cause: 'diverged',
  error: { type: 'Diverged', message: 'look was asked with other arguments' },
};

it('is diverged until it goes on, and no longer', () => {
  const lineage = new TestLineage();
  lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }, found, diverged]);
  expect(lineage.of().run.state).toMatchObject({ diverged: true, failure: { cause: 'diverged' } });
  lineage.claim();
  expect(lineage.of().run.state.diverged).toBe(false);
  lineage.worker([{ kind: 'run.completed' }]);
  expect(lineage.of().run.state).toMatchObject({ status: 'completed', diverged: false });
});
