import { wallTime, type Zone } from './zone';

/* Numbers and times as people read them. `now` is passed in. */

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

/** `<1 ms`, `352 ms`, `8.1 s`, `30 s`, `2 h 14 min`. */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  const big = units.findIndex(([size]) => ms >= size);
  const [size, name] = units[big] ?? [60_000, 'min'];
  const whole = Math.floor(ms / size);
  const [nextSize, nextName] = units[big + 1] ?? [1_000, 's'];
  const rest = Math.floor((ms - whole * size) / nextSize);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${nextName}`;
}

/** Of what still goes on, so that it changes no more than once a second: `8 s`, `2 h 14 min`. */
export const elapsed = (ms: number): string =>
  ms < 60_000 ? `${Math.floor(Math.max(0, ms) / 1_000)} s` : duration(ms);

/** `now`, `12 s ago`, `2 h ago`; a time ahead reads `in 40 s`. */
export function relative(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 1_000) return 'now';
  const [size, name] = units.find(([unit]) => Math.abs(ms) >= unit) ?? [1_000, 's'];
  const text = `${Math.floor(Math.abs(ms) / size)} ${name}`;
  return ms > 0 ? `${text} ago` : `in ${text}`;
}

/* Absolute times are in the zone that the person chose, which `useZone` tells, and say which it is. */

/** `2026-11-29 01:59:12.129 UTC`. */
export function absolute(at: number, zone: Zone): string {
  const wall = wallTime(at, zone);
  return `${wall.day} ${wall.time} ${wall.zone}`;
}

/** `2026-11-29 01:59:12 UTC`. */
export function moment(at: number, zone: Zone): string {
  const wall = wallTime(at, zone);
  return `${wall.day} ${wall.time.slice(0, 8)} ${wall.zone}`;
}

/** `01:59:12.129`; its zone stands beside it, see `zoneAt`. */
export const clock = (at: number, zone: Zone): string => wallTime(at, zone).time;

/** `UTC`, `UTC+2`: what the zone is called at that instant. */
export const zoneAt = (at: number, zone: Zone): string => wallTime(at, zone).zone;

/** `1,284`. Without the browser's own formats of numbers: the first use of those takes longer than a page's first rows. */
export const whole = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

/** `950`, `4.1k`, `1.9M`. */
export function short(n: number): string {
  if (n < 1_000) return String(n);
  if (n < 1_000_000) return `${(n / 1_000).toFixed(n < 100_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** Micro dollars to the last one: `$0.10`, `$0.001235`. A limit is not rounded. */
export const exactDollars = (microUsd: number): string =>
  `$${(microUsd / 1_000_000).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;

/** Micro dollars as `$0.10`; less than a cent as `<$0.01`. */
export function dollars(microUsd: number): string {
  if (microUsd === 0) return '$0.00';
  if (microUsd < 10_000) return '<$0.01';
  return `$${(microUsd / 1_000_000).toFixed(2)}`;
}

/** `214 B`, `3.0 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const kib = (bytes / 1_024).toFixed(1);
  return kib !== '1024.0' && bytes < 1_048_576 ? `${kib} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** Text with what could not be seen, or would turn its neighbours round, written out: `␀`, `␛`, `⟨U+202E⟩`. */
export const seen = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u200b\u2060\ufeff]/gu, (found, at: number) => {
    const code = found.charCodeAt(0);
    if (found === '\n' || found === '\t' || (found === '\r' && text[at + 1] === '\n')) return found;
    return code < 0x20
      ? String.fromCharCode(0x2400 + code)
      : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });

/** Where a part of the text that may end at `at` ends: never inside a character of two units. */
export function partEnd(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
  return isPair ? at - 1 : at;
}

/** `1 step`, `3 steps`. */
export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${whole(n)} ${n === 1 ? one : many}`;

/** The text with a full stop, where it has no end of its own. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
