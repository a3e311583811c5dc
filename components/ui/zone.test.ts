import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absolute, clock, moment } from './format';
import { dayStart, instantOf, wallTime } from './zone';

const before = process.env['TZ'];
beforeAll(() => {
  // Newfoundland: half an hour off, and clocks that go forward and back.
  process.env['TZ'] = 'America/St_Johns';
});
afterAll(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

describe('times in a zone', () => {
  const winter = Date.UTC(2026, 10, 29, 1, 59, 12, 129);
  const summer = Date.UTC(2026, 6, 1, 1, 0);

  it('name the zone as it is at that instant', () => {
    expect(absolute(winter, 'utc')).toBe('2026-11-29 01:59:12.129 UTC');
    expect(absolute(winter, 'local')).toBe('2026-11-28 22:29:12.129 UTC−3:30');
    expect(moment(summer, 'local')).toBe('2026-06-30 22:30:00 UTC−2:30');
    expect(clock(winter, 'local')).toBe('22:29:12.129');
  });

  it('are found again from what the wall shows', () => {
    for (const zone of ['utc', 'local'] as const)
      for (const at of [winter, summer]) {
        const { day, time } = wallTime(at, zone);
        expect(instantOf(`${day}T${time}`, zone)).toBe(at);
      }
    expect(instantOf('no time', 'utc')).toBeUndefined();
  });

  it('know when the day began there', () => {
    expect(dayStart(winter, 'utc')).toBe(Date.UTC(2026, 10, 29));
    expect(dayStart(winter, 'local')).toBe(Date.UTC(2026, 10, 28, 3, 30));
  });
});
