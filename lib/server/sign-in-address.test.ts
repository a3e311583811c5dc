import { expect, it } from 'vitest';
import { sameSitePath, signInAddress } from './sign-in-address';

it.each(['/runs', '/runs/r%201?seq=4&tab=diff', '/audit?q=a%2Fb', '/runs/a%5Cb', '/runs?from=//x'])(
  'leads back to %s',
  (path) => {
    expect(sameSitePath(path)).toBe(path);
    const next = new URL(signInAddress(path), 'http://here').searchParams.get('next') ?? undefined;
    expect(sameSitePath(next)).toBe(path);
  },
);

it.each([
  undefined,
  '',
  'runs',
  '//evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/runs\\..\\evil',
  'https://evil.example/',
  'javascript:alert(1)',
  ' /runs',
  '/sign-in?next=/sign-in',
])('leads to the list instead of %j', (path) => {
  expect(sameSitePath(path)).toBe('/runs');
  expect(new URL(sameSitePath(path), 'http://here').origin).toBe('http://here');
});
