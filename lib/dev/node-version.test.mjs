import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSupported } from './node-version.mjs';
import { inRoot } from './paths.mjs';

describe('the Node that Rerail asks for', () => {
  it.each(['v20.19.0', 'v20.20.2', 'v22.12.0', 'v24.0.0', 'v25.1.0'])('takes %s', (version) => {
    expect(isSupported(version)).toBe(true);
  });

  it.each(['v14.21.3', 'v18.20.8', 'v20.18.3', 'v21.7.3', 'v22.11.0', 'v23.9.0'])('refuses %s', (version) => {
    expect(isSupported(version)).toBe(false);
  });

  it('is the range of package.json', () => {
    const { engines } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
    expect(engines.node).toBe('^20.19 || ^22.12 || >=24');
  });

  it('is checked by files that an old Node can parse', () => {
    for (const file of ['start.mjs', 'test.mjs', 'bench.mjs', 'node-version.mjs']) {
      const text = readFileSync(inRoot(`lib/dev/${file}`), 'utf8');
      expect(text, file).not.toMatch(/\?\.|\?\?|^await |from 'node:/m);
    }
  });
});
