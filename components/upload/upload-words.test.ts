import { describe, expect, it } from 'vitest';
import type { Upload, UploadReport } from '@/lib/client/uploads';
import { refusalOf, reportWords, runWords, stateWords, toldOf, underWayWords } from './upload-words';

const ran = (added: number, events = 10): UploadReport['runs'][number] => ({
  id: 'r',
  format: 'rerail',
  status: 'completed',
  events,
  steps: 3,
  checkpoints: 1,
  added,
});
const upload = (state: Upload['state'], bytes = 1_000): Upload => ({
  key: 1,
  file: new File(['x'.repeat(bytes)], 'a.json'),
  state,
});

describe('an upload in words', () => {
  it('says what is new of it and what was known', () => {
    const warnings = [{ path: 'line 3', message: 'is no JSON' }];
    expect(reportWords({ runs: [ran(10)], warnings: [] })).toBe('1 run read');
    expect(reportWords({ runs: [ran(10), ran(0)], warnings })).toBe('1 run read, 1 known already, 1 note');
    expect(reportWords({ runs: [ran(0), ran(0)], warnings: [] })).toBe('Nothing new: 2 runs known already');
    expect(reportWords({ runs: [], warnings })).toBe('No run in it, 1 note');
    expect(runWords(ran(10))).toBe('10 events, 3 steps, 1 checkpoint');
    expect(runWords(ran(4))).toBe('4 of 10 events new, 3 steps, 1 checkpoint');
    expect(runWords(ran(0))).toBe('nothing new, 10 events known already');
  });

  it('never says that nothing was stored where that is not known', () => {
    expect(stateWords(upload({ kind: 'stopped', unknown: true }))).toMatch(/may have been stored/);
    expect(stateWords(upload({ kind: 'stopped', unknown: false }))).toMatch(/nothing of it was stored/);
    const refused = (status: number, kind = 'malformed') =>
      stateWords(
        upload({
          kind: 'refused',
          problem: { kind, status, title: 'No', detail: '', errors: [], members: {} },
        }),
      );
    for (const status of [400, 409, 413, 415]) expect(refused(status)).toBe('No: nothing of it was stored');
    expect(refused(0, 'body-too-large')).toBe('No: nothing of it was stored');
    for (const status of [0, 408, 500, 503])
      expect(refused(status)).toMatch(/not known whether it was stored/);
  });

  it('tells how far it is by bytes, and that the console reads once all have left', () => {
    expect(stateWords(upload({ kind: 'sends', sent: 250 }))).toBe('250 B of 1000 B sent');
    expect(underWayWords([upload({ kind: 'sends', sent: 259 })])).toBe('Uploading, 25%');
    expect(underWayWords([upload({ kind: 'reads' }), upload({ kind: 'waits' })])).toBe(
      'Uploading, being read; 1 more to go',
    );
    expect(underWayWords([upload({ kind: 'stopped', unknown: false })])).toBeUndefined();
  });

  it('names a place once, and the root of a document not at all', () => {
    const told = (path: string, message: string) => {
      const { place, message: rest } = toldOf({ path, message });
      return place === '' ? rest : `${place}: ${rest}`;
    };
    expect(told('$', 'not JSON')).toBe('not JSON');
    expect(told('body', 'the body is empty')).toBe('the body is empty');
    expect(told('$.runs[3].events[2]', 'no kind')).toBe('at $.runs[3].events[2]: no kind');
    expect(told('$[3]', 'no state')).toBe('at $[3]: no state');
    expect(told('line 3', '$: too small')).toBe('line 3: too small');
    expect(told('line 3', '$.run.id: too long')).toBe('line 3, at $.run.id: too long');
    expect(told('line 1, $.headDigest', 'another')).toBe('line 1, at $.headDigest: another');
    expect(told('line 1, $', 'another')).toBe('line 1: another');
    expect(told('$, character 43', 'not JSON')).toBe('character 43: not JSON');
    expect(told('byte 12', 'not UTF-8')).toBe('byte 12: not UTF-8');
  });

  it('says each thing of a refusal once', () => {
    const lines = (detail: string, ...errors: readonly (readonly [string, string])[]) =>
      refusalOf({ detail, errors: errors.map(([path, message]) => ({ path, message })) }).map(
        ({ message }) => message,
      );
    expect(lines('$, character 43: not JSON', ['$, character 43', 'not JSON'])).toEqual(['not JSON']);
    expect(lines('The body is empty.', ['body', 'the body is empty'])).toEqual(['the body is empty']);
    expect(lines('the journal contradicts itself', ['run r1', 'the journal contradicts itself'])).toEqual([
      'the journal contradicts itself',
    ]);
    expect(lines('Two lines are wrong.', ['line 1', 'a'], ['line 2', 'b'])).toEqual([
      'Two lines are wrong.',
      'a',
      'b',
    ]);
    expect(lines('No room.')).toEqual(['No room.']);
  });
});
