import { describe, expect, it } from 'vitest';
import type { Upload, UploadReport } from '@/lib/client/uploads';
import { reportWords, runWords, stateWords, underWayWords } from './upload-words';

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
    expect(stateWords(upload({ kind: 'sends', sent: 250 }))).toBe('250 B of 1.0 KB sent');
    expect(underWayWords([upload({ kind: 'sends', sent: 259 })])).toBe('Uploading, 25%');
    expect(underWayWords([upload({ kind: 'reads' }), upload({ kind: 'waits' })])).toBe(
      'Uploading, being read; 1 more to go',
    );
    expect(underWayWords([upload({ kind: 'stopped', unknown: false })])).toBeUndefined();
  });
});
