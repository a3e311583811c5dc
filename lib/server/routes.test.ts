import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { apiPaths } from './api-paths';
import { router } from './router';
import { routes } from './routes';

const app = fileURLToPath(new URL('../../app', import.meta.url));

describe('the route table', () => {
  it('has every route file of the app, and no other', async () => {
    const files = (await readdir(app, { recursive: true })).filter((file) => /(^|\/)route\.ts$/.test(file));
    expect(routes.map(([path]) => path).sort()).toEqual(
      files.map((file) => `/${file.replace(/\/route\.ts$/, '')}`).sort(),
    );
  });
});

describe('the table of the proxy', () => {
  it('has every path and method that the route files answer', () => {
    const methods = (module: object) =>
      Object.keys(module)
        .filter((name) => /^[A-Z]+$/.test(name))
        .sort();
    expect(apiPaths.map(([path, module]) => [path, methods(module)])).toEqual(
      routes.map(([path, module]) => [path, methods(module)]),
    );
  });
});

describe('the router', () => {
  const find = router(routes);

  it('decodes each segment once, so that an id may hold a slash, a percent sign or a dot', () => {
    for (const id of ['a/b', '100%', 'a.b', '%2F', 'ü ñ', '..a', '[runId]', 'events']) {
      const match = find('GET', `/api/v1/runs/${encodeURIComponent(id)}`);
      expect(match).toMatchObject({ kind: 'found', params: { runId: id } });
    }
  });

  it('finds a step by its percent-encoded key', () => {
    const key = 'lookup#2/search_orders#1';
    expect(find('GET', `/api/v1/runs/r/steps/${encodeURIComponent(key)}`)).toMatchObject({
      kind: 'found',
      params: { runId: 'r', key },
    });
  });

  it('tells a wrong method from a wrong path from a malformed one', () => {
    expect(find('DELETE', '/api/v1/runs')).toEqual({ kind: 'method-not-allowed', allow: 'GET, HEAD, POST' });
    expect(find('GET', '/api/v1/nothing')).toEqual({ kind: 'none' });
    expect(find('GET', '/api/v1/runs/')).toMatchObject({ kind: 'none' });
    expect(find('GET', '/api/v1/runs/%ff')).toEqual({ kind: 'malformed' });
  });
});
