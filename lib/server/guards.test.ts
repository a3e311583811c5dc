import { describe, expect, it } from 'vitest';
import { type Caller, type Doors, isLoopbackAddress, isLoopbackHost, refuse as refuseAt } from './guards';

/** Of a console without tokens. */
const open: Doors = { open: true, hosts: new Set() };
const refuse = (caller: Caller, doors = open) => refuseAt(caller, doors);

const own: Caller = {
  peer: '127.0.0.1',
  method: 'POST',
  path: '/api/v1/runs',
  host: '127.0.0.1:3000',
  origin: undefined,
  fetchSite: undefined,
  fetchMode: undefined,
  fetchDest: undefined,
};

describe('the guards', () => {
  it('let programs and pages of this machine through', () => {
    expect(refuse(own)).toBeUndefined();
    expect(
      refuse({ ...own, host: 'localhost:3000', origin: 'http://localhost:3000', fetchSite: 'same-origin' }),
    ).toBeUndefined();
    expect(refuse({ ...own, peer: '::1', host: '[::1]:3000' })).toBeUndefined();
    expect(refuse({ ...own, peer: '::ffff:127.0.0.1', fetchSite: 'none' })).toBeUndefined();
  });

  it('refuse every address but loopback, an unknown one too', () => {
    for (const peer of [
      '10.0.0.7',
      '::ffff:10.0.0.7',
      'fe80::1',
      '127.0.0.1.evil.example',
      '127.0.0.256',
      '127.0.0.999',
      undefined,
    ]) {
      expect(refuse({ ...own, peer })).toMatchObject({ kind: 'foreign-address' });
      expect(isLoopbackAddress(peer)).toBe(false);
    }
  });

  it('refuse a Host that does not name this machine (DNS rebinding)', () => {
    for (const host of [
      'evil.example',
      'evil.example:3000',
      'localhost.evil.example',
      'localhost@evil.example',
      '127.0.0.1.nip.io:3000',
      '0.0.0.0:3000',
      '127.0.0.999',
      '127.999.0.1:3000',
      '',
      undefined,
      'localhost:3000:1',
      'localhost:',
      '[::2]:3000',
      'localhost/',
    ]) {
      expect(refuse({ ...own, host })).toMatchObject({ kind: 'foreign-host' });
      expect(isLoopbackHost(host)).toBe(false);
    }
  });

  it('refuse another site’s page, another port’s and an opaque origin', () => {
    for (const origin of ['http://evil.example', 'http://127.0.0.1:4000', 'http://localhost:3000', 'null']) {
      expect(refuse({ ...own, origin })).toMatchObject({ kind: 'cross-site' });
    }
    for (const fetchSite of ['cross-site', 'same-site', 'anything'])
      expect(refuse({ ...own, fetchSite })).toMatchObject({ kind: 'cross-site' });
  });

  it('let a link be followed to a page, never to the API, a frame or by another method', () => {
    const link = {
      ...own,
      method: 'GET',
      path: '/runs/r1',
      fetchSite: 'cross-site',
      fetchMode: 'navigate',
      fetchDest: 'document',
    };
    expect(refuse(link)).toBeUndefined();
    for (const change of [
      { path: '/api/v1/runs' },
      { path: '/v1/traces' },
      { path: '/api' },
      { path: '//api/v1/runs' },
      { fetchDest: 'iframe' },
      { method: 'POST' },
      { fetchMode: 'no-cors' },
      { origin: 'http://evil.example' },
    ]) {
      expect(refuse({ ...link, ...change })).toMatchObject({ kind: 'cross-site' });
    }
  });
});
