import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { apiUrl, getJson, getText, isDefinite, postJson, runPath, toProblem } from './api';

describe('API addresses and refusals', () => {
  it('escapes ids and keys, repeats lists whole and leaves out what is absent', () => {
    expect(apiUrl(runPath('a/b #1'), { at: 3, agent: ['a,b', 'c', ''], q: '', cursor: undefined })).toBe(
      '/api/v1/runs/a%2Fb%20%231?at=3&agent=a%2Cb&agent=c',
    );
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

describe('an answer', () => {
  const calls = [
    ['getJson', (signal?: AbortSignal) => getJson('/x', signal)],
    ['getText', (signal?: AbortSignal) => getText('/x', signal)],
    ['postJson', (signal?: AbortSignal) => postJson('/x', {}, signal)],
  ] as const;
  beforeEach(() => {
    vi.useFakeTimers();
    // The platform's own time-outs do not hear of fake timers.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const end = new AbortController();
      setTimeout(() => end.abort(new DOMException('timed out', 'TimeoutError')), ms);
      return end.signal;
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
  const answering = (answer: (init: RequestInit) => Promise<unknown>) =>
    vi.stubGlobal('fetch', (_url: string, init: RequestInit) => answer(init));
  const untilAborted = (signal: AbortSignal | null | undefined) =>
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const noAnswer = { ok: false, problem: { kind: 'unreachable', status: 0 } };

  it.each(calls)('%s gives up on a console that is silent', async (_, call) => {
    answering((init) => untilAborted(init.signal));
    const answer = call();
    await vi.advanceTimersByTimeAsync(30_000);
    await expect(answer).resolves.toMatchObject(noAnswer);
  });

  it.each(calls)('%s gives up on a console that falls silent half-way', async (_, call) => {
    answering(async (init) => {
      const body = () => untilAborted(init.signal);
      return { ok: true, json: body, text: body };
    });
    const answer = call();
    await vi.advanceTimersByTimeAsync(30_000);
    await expect(answer).resolves.toMatchObject(noAnswer);
  });

  it.each(calls)('%s counts a body that breaks off as no answer', async (_, call) => {
    const body = () => Promise.reject(new TypeError('terminated'));
    answering(async () => ({ ok: true, json: body, text: body }));
    await expect(call()).resolves.toMatchObject(noAnswer);
    answering(async () => ({ ok: false, status: 409, json: body, text: body }));
    await expect(call()).resolves.toMatchObject(noAnswer);
  });

  it.each(calls)('%s words what the browser says of it as a sentence', async (_, call) => {
    answering(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(call()).resolves.toMatchObject({
      problem: { detail: 'No answer came (Failed to fetch).' },
    });
    answering(() => Promise.reject(new TypeError('NetworkError when attempting to fetch resource.')));
    await expect(call()).resolves.toMatchObject({
      problem: { detail: 'No answer came (NetworkError when attempting to fetch resource).' },
    });
  });

  it.each(calls)('%s throws on what its caller took back', async (_, call) => {
    answering((init) => untilAborted(init.signal));
    const mine = new AbortController();
    const answer = call(mine.signal);
    mine.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is definite where the console itself refused, and nowhere else', () => {
    const definite = [0, 400, 404, 408, 409, 413, 422, 500, 502, 503, 504].filter((status) =>
      isDefinite({ status }),
    );
    expect(definite).toEqual([400, 404, 409, 413, 422]);
  });
});
