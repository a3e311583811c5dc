import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { contentPolicy, TOAST_STYLES } from './content-policy';

const directive = (policy: string, name: string) =>
  policy
    .split('; ')
    .find((one) => one.startsWith(`${name} `))
    ?.split(' ')
    .slice(1);

it('lets scripts run by this request’s nonce alone, and nothing come from elsewhere', () => {
  const policy = contentPolicy('abc', false);
  expect(directive(policy, 'script-src')).toEqual(["'nonce-abc'", "'strict-dynamic'", "'self'"]);
  expect(directive(policy, 'default-src')).toEqual(["'none'"]);
  expect(directive(policy, 'frame-ancestors')).toEqual(["'none'"]);
  expect(directive(policy, 'base-uri')).toEqual(["'none'"]);
  expect(directive(policy, 'style-src-attr')).toEqual(["'unsafe-inline'"]);
  expect(policy.replace("style-src-attr 'unsafe-inline'", '')).not.toMatch(/unsafe|https?:|\*/);
});

it('gives development what its tools need, and no more', () => {
  expect(directive(contentPolicy('abc', true), 'script-src')).toContain("'unsafe-eval'");
  expect(directive(contentPolicy('abc', true), 'script-src')).not.toContain("'unsafe-inline'");
});

it('names the stylesheet that the toasts bring, as this version of theirs has it', () => {
  const entry = createRequire(import.meta.url).resolve('sonner');
  const source = readFileSync(join(dirname(entry), 'index.mjs'), 'utf8');
  const [, literal = ''] = /__insertCSS\("((?:[^"\\]|\\.)*)"\)/.exec(source) ?? [];
  const css = JSON.parse(`"${literal.replaceAll("\\'", "'")}"`) as string;
  expect(css.length).toBeGreaterThan(1_000);
  expect(TOAST_STYLES).toBe(`'sha256-${createHash('sha256').update(css).digest('base64')}'`);
});
