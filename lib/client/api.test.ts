import { describe, expect, it } from 'vitest';
import { apiUrl, runPath, toProblem } from './api';

describe('API addresses and refusals', () => {
  it('escapes ids and keys, joins lists and leaves out what is absent', () => {
    expect(
      apiUrl(runPath('a/b #1'), { at: 3, status: ['failed', 'waiting'], q: '', cursor: undefined }),
    ).toBe('/api/v1/runs/a%2Fb%20%231?at=3&status=failed%2Cwaiting');
  });

  it('reads problem+json with its own members', () => {
    const body = {
      type: 'urn:rerail:problem:held',
      title: 'Held',
      status: 409,
      detail: 'w1 has it',
      holder: { workerId: 'w1' },
    };
    expect(toProblem(409, JSON.stringify(body))).toMatchObject({
      kind: 'held',
      title: 'Held',
      detail: 'w1 has it',
      members: { holder: { workerId: 'w1' } },
    });
  });

  it('keeps the text of an answer that is no problem+json', () => {
    expect(toProblem(502, 'bad gateway')).toMatchObject({
      status: 502,
      title: 'HTTP 502',
      detail: 'bad gateway',
      errors: [],
    });
  });
});
