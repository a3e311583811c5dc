import { expect, it } from 'vitest';
import { inspectorTabs, tabParams } from './inspector-tabs';

it('gives every view an address and a key of its own, and opens the first', () => {
  for (const part of ['id', 'name', 'key', 'View'] as const)
    expect(new Set(inspectorTabs.map((view) => view[part])).size).toBe(inspectorTabs.length);
  for (const { id } of inspectorTabs) expect(tabParams.tab.parse(id)).toBe(id);
  expect(tabParams.tab.parse('no such view')).toBe(null);
  expect(tabParams.tab.defaultValue).toBe(inspectorTabs[0].id);
});
