import { type FileJson, isList, isObject } from '@/lib/ingest/json';
import { jsonIn, type Plain, type Span } from './span';

/* Looking things up in the attributes of a span, under whatever name a convention has for them. */

/** An attribute as JSON: a text that holds JSON is read, bytes become base64. */
export function jsonOf(plain: Plain, maxDepth: number): FileJson {
  if (typeof plain === 'string') return jsonIn(plain, maxDepth);
  return asJson(plain);
}

/** The same without reading texts. */
export function asJson(plain: Plain): FileJson {
  if (plain instanceof Uint8Array) return Buffer.from(plain).toString('base64');
  if (typeof plain === 'number' && !Number.isFinite(plain)) return String(plain);
  if (Array.isArray(plain)) return (plain as readonly Plain[]).map(asJson);
  if (typeof plain === 'object' && plain !== null)
    return Object.fromEntries(
      Object.entries(plain as { readonly [key: string]: Plain }).map(([key, value]) => [key, asJson(value)]),
    );
  return plain as FileJson;
}

/** The attributes of a call: its own span's first, then those of the spans that only wrap it. */
export class Facts {
  /** By span: keys whose content the steps show, so that it need not be shown again. */
  readonly shown = new Map<string, Set<string>>();

  constructor(
    readonly spans: readonly Span[],
    readonly maxDepth: number,
  ) {}

  private find(
    keys: readonly string[],
  ): { readonly span: Span; readonly key: string; readonly value: Plain } | undefined {
    for (const span of this.spans)
      for (const key of keys) {
        const value = span.attributes.get(key);
        if (value !== undefined && value !== null && value !== '') return { span, key, value };
      }
    return undefined;
  }

  private show(span: Span, key: string): void {
    const keys = this.shown.get(span.id);
    if (keys === undefined) this.shown.set(span.id, new Set([key]));
    else keys.add(key);
  }

  text(...keys: readonly string[]): string | undefined {
    const found = this.find(keys)?.value;
    return typeof found === 'string'
      ? found
      : typeof found === 'number' || typeof found === 'bigint'
        ? String(found)
        : undefined;
  }

  /** A count that is a whole number, or a text of one. */
  count(...keys: readonly string[]): number | undefined {
    for (const span of this.spans)
      for (const key of keys) {
        const value = span.attributes.get(key);
        const number = typeof value === 'string' && /^\d+(\.0+)?$/.test(value) ? Number(value) : value;
        if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
      }
    return undefined;
  }

  /** Content: read as JSON where it is a text of some, and marked as shown. `{}` stands for what was not captured. */
  content(...keys: readonly string[]): FileJson | undefined {
    for (const key of keys) {
      const found = this.find([key]);
      if (found === undefined) continue;
      const value = jsonOf(found.value, this.maxDepth);
      if (isObject(value) && Object.keys(value).length === 0 && key.startsWith('gcp.vertex.agent.')) continue;
      this.show(found.span, found.key);
      return value;
    }
    return undefined;
  }

  /** Content that is words, as they are. */
  words(...keys: readonly string[]): string | undefined {
    const found = this.find(keys);
    if (found === undefined || typeof found.value !== 'string') return undefined;
    this.show(found.span, found.key);
    return found.value;
  }

  /** Content under a numbered prefix, `gen_ai.prompt.0.role`, as a list of objects; `[]` where there is none. */
  indexed(prefix: string): readonly FileJson[] {
    for (const span of this.spans) {
      const items: Nested[] = [];
      for (const [key, value] of span.attributes) {
        if (!key.startsWith(`${prefix}.`)) continue;
        const [index = '', ...path] = key.slice(prefix.length + 1).split('.');
        if (!/^\d{1,5}$/.test(index) || path.length === 0) continue;
        this.show(span, key);
        items[Number(index)] ??= new Map();
        putAt(items[Number(index)] as Nested, path, asJson(value));
      }
      const found = items.filter((item) => item !== undefined).map(plainNested);
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Everything under a prefix, by the rest of its key. */
  under(prefix: string): Readonly<Record<string, FileJson>> {
    const found = new Map<string, FileJson>();
    for (const span of this.spans)
      for (const [key, value] of span.attributes)
        if (key.startsWith(prefix) && !found.has(key.slice(prefix.length)))
          found.set(key.slice(prefix.length), asJson(value));
    return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

type Nested = Map<string, Nested | FileJson>;

function putAt(into: Nested, path: readonly string[], value: FileJson): void {
  let at = into;
  for (const part of path.slice(0, -1)) {
    const next = at.get(part);
    if (next instanceof Map) at = next;
    else {
      const made: Nested = new Map();
      at.set(part, made);
      at = made;
    }
  }
  at.set(path.at(-1) ?? '', value);
}

/** Levels whose names are all numbers are lists. */
function plainNested(value: Nested | FileJson): FileJson {
  if (!(value instanceof Map)) return value;
  const entries = [...value];
  if (entries.length > 0 && entries.every(([key]) => /^\d{1,5}$/.test(key)))
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, inner]) => plainNested(inner));
  return Object.fromEntries(entries.map(([key, inner]) => [key, plainNested(inner)]));
}

/** A name that events and addresses can hold; never empty. */
export function usable(name: string, otherwise: string): string {
  // No name is read further than it can be shown; a character is two units at most.
  const clean = name
    .trimStart()
    .slice(0, 4 * MAX_NAME)
    .replaceAll('\u0000', '\u2400')
    .toWellFormed()
    .trim();
  if (clean === '' || clean === '.' || clean === '..' || clean === '__proto__')
    return clean === '' ? otherwise : `${otherwise} ${clean}`;
  const points = [...clean];
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME - 1).join('')}…` : clean;
}
export const MAX_NAME = 160;

export const listIn = (value: FileJson | undefined): readonly FileJson[] => (isList(value) ? value : []);
export const objectIn = (value: FileJson | undefined): { readonly [key: string]: FileJson } =>
  isObject(value) ? value : {};
