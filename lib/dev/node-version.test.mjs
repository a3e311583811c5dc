import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isSupported, requireSupportedNode } from './node-version.mjs';
import { inRoot } from './paths.mjs';

afterEach(() => vi.restoreAllMocks());

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

  it('is checked by files that an old Node can parse', async () => {
    for (const file of ['start.mjs', 'test.mjs', 'bench.mjs', 'node-version.mjs']) {
      const text = readFileSync(inRoot(`lib/dev/${file}`), 'utf8');
      expect(text, file).not.toMatch(/\?\.|\?\?|^await |from 'node:/m);
      // What the oldest Node with modules cannot parse would be rewritten for it, or refused.
      const [old, newest] = await Promise.all(
        ['node12.20', 'esnext'].map((target) => transform(text, { target })),
      );
      expect(old.code, file).toBe(newest.code);
    }
  });

  it.each([
    [
      'an old Node',
      'linux',
      'v18.20.8',
      /^Rerail needs Node 20\.19 .*\nThis is Node v18\.20\.8 \(.*\nInstall /,
    ],
    ['Windows', 'win32', 'v24.0.0', /On Windows, run it inside WSL2/],
  ])('is asked for on %s with a message, and nothing else happens', (_, platform, version, message) => {
    const ours = { platform: process.platform, version: process.version };
    const be = (values) => {
      for (const [name, value] of Object.entries(values))
        Object.defineProperty(process, name, { ...Object.getOwnPropertyDescriptor(process, name), value });
    };
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
    try {
      be({ platform, version });
      expect(requireSupportedNode).toThrow('exit 1');
    } finally {
      be(ours);
    }
    expect(said.mock.calls).toEqual([[expect.stringMatching(message)]]);
  });
});
