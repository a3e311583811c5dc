'use client';

import { kept, useKept } from './kept';

/** The zone that every time is shown in: UTC, or that of this browser. */
export type Zone = 'utc' | 'local';

const setting = kept<Zone>('rerail.zone', 'utc', (found) =>
  found === 'local' || found === 'utc' ? found : undefined,
);

export const setZone = (zone: Zone): void => setting.set(zone);
/** The zone that is set; whoever shows a time in it is drawn anew where it changes. */
export const useZone = (): Zone => useKept(setting);

/** Parts of an instant as a clock on the wall in that zone shows it. */
export interface WallTime {
  /** `2026-11-29`. */
  readonly day: string;
  /** `01:59:12.129`. */
  readonly time: string;
  /** `UTC`, `UTC+2`, `UTC−3:30`. */
  readonly zone: string;
}

const two = (n: number) => String(n).padStart(2, '0');

/** Minutes that the zone is ahead of UTC at that instant; clocks are put forward and back. */
const aheadAt = (at: number, zone: Zone): number => (zone === 'utc' ? 0 : -new Date(at).getTimezoneOffset());

export function wallTime(at: number, zone: Zone): WallTime {
  const ahead = aheadAt(at, zone);
  const [day = '', time = ''] = new Date(at + ahead * 60_000).toISOString().slice(0, 23).split('T');
  return { day, time, zone: zoneName(ahead) };
}

function zoneName(ahead: number): string {
  if (ahead === 0) return 'UTC';
  const minutes = Math.abs(ahead) % 60;
  const hours = Math.floor(Math.abs(ahead) / 60);
  return `UTC${ahead < 0 ? '−' : '+'}${hours}${minutes === 0 ? '' : `:${two(minutes)}`}`;
}

/** The instant of a day and a time without a zone (`2026-11-29T01:59`), in that zone; undefined where it is none. */
export function instantOf(wall: string, zone: Zone): number | undefined {
  const at = Date.parse(zone === 'utc' ? `${wall}Z` : wall);
  return Number.isNaN(at) ? undefined : at;
}

/** When the day of that instant began, there. */
export function dayStart(at: number, zone: Zone): number {
  const date = new Date(at);
  return zone === 'utc'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
    : new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
