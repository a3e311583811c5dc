import { describe, expect, it } from 'vitest';
import { workersMark } from './workers';

const worker = (workerId: string, live = true, machineDigest = 'd1') => ({
  workerId,
  live,
  agents: [{ name: 'desk', machineDigest }],
});

describe('the mark of the connected workers', () => {
  const mark = workersMark([worker('w1'), worker('w2')]);
  it('changes when one comes, goes, or offers other code', () => {
    expect(workersMark([worker('w1')])).not.toBe(mark);
    expect(workersMark([worker('w1'), worker('w2', false)])).not.toBe(mark);
    expect(workersMark([worker('w1'), worker('w2', true, 'd2')])).not.toBe(mark);
    expect(workersMark([worker('w1'), worker('w2'), worker('w3')])).not.toBe(mark);
  });
  it('stays as they are heard of again, in whatever order', () => {
    expect(workersMark([worker('w2'), worker('w1')])).toBe(mark);
    expect(workersMark([worker('w1'), worker('w2'), worker('w0', false)])).toBe(mark);
  });
});
