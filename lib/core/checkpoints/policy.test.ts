import { describe, expect, it } from 'vitest';
import { epochMs } from '../events/ids';
import { defaultCheckpointPolicy, dueCheckpoint } from './policy';

const due = (stepsEnded: number, passedMs: number, beforeExternal = false) =>
  dueCheckpoint(
    defaultCheckpointPolicy,
    { stepsEnded, at: epochMs(1_000) },
    epochMs(1_000 + passedMs),
    beforeExternal,
  );

describe('dueCheckpoint', () => {
  it('saves before every irreversible step, whatever was saved just now', () => {
    expect(due(0, 0, true)).toBe('before-effect');
  });

  it('saves every 3 steps', () => {
    expect(due(2, 0)).toBeUndefined();
    expect(due(3, 0)).toBe('every-n-steps');
  });

  it('saves every 30 s, where anything has happened since', () => {
    expect(due(1, 29_999)).toBeUndefined();
    expect(due(1, 30_000)).toBe('every-t-seconds');
    expect(due(0, 90_000)).toBeUndefined();
  });
});
