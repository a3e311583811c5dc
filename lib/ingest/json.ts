import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { ImportProblem } from '@/lib/usecases/ports';

/** JSON of a file: integers beyond 2^53 are kept as `bigint`, everything else as `JSON.parse` has it. */
export type FileJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly FileJson[]
  | { readonly [key: string]: FileJson };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** No integer of 15 digits or fewer leaves the range that a double holds exactly. */
const SAFE_DIGITS = 15;

interface Scan {
  /** Where `maxDepth` was passed, a character offset. */
  readonly tooDeepAt: number | undefined;
  readonly longNumbers: boolean;
}

const NOTHING_FOUND: Scan = { tooDeepAt: undefined, longNumbers: false };

/** Whether the text has at most so many brackets that open: it cannot be nested deeper then. A few look-ups by `indexOf`. */
function isShallow(text: string, maxDepth: number): boolean {
  let room = maxDepth;
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      room -= 1;
      if (room < 0) return false;
    }
  return true;
}

/** One pass over the text, outside of strings: nesting, and whether a number is too long for a double. */
function scan(text: string, maxDepth: number): Scan {
  let depth = 0;
  let digits = 0;
  let longNumbers = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      if (digits > SAFE_DIGITS) longNumbers = true;
      continue;
    }
    digits = 0;
    if (code === QUOTE) i = afterString(text, i) - 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return { tooDeepAt: i, longNumbers };
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return { tooDeepAt: undefined, longNumbers };
}

/**
 * Parses JSON that came from outside. `path` says where the text stands in its file ("line 3"), for refusals.
 * `integers: 'doubles'` is for files whose writer had doubles only. O(length); never throws; never recurses deeper than
 * `maxDepth`.
 */
export function parseJson(
  text: string,
  maxDepth: number,
  path: string,
  integers: 'exact' | 'doubles' = 'exact',
): Result<FileJson, ImportProblem> {
  const found = integers === 'doubles' && isShallow(text, maxDepth) ? NOTHING_FOUND : scan(text, maxDepth);
  if (found.tooDeepAt !== undefined) {
    const where = `${path}, character ${found.tooDeepAt}`;
    return fail({
      kind: 'limit',
      limit: 'depth',
      max: maxDepth,
      path: where,
      message: `nested deeper than the limit "depth" of ${maxDepth}`,
    });
  }
  try {
    const value: FileJson = JSON.parse(text);
    return ok(found.longNumbers && integers === 'exact' ? withBigInts(text) : value);
  } catch (error) {
    const where = `${path}, character ${firstWrong(text)}`;
    return fail({ kind: 'malformed', path: where, message: `not JSON: ${sentenceOf(error)}` });
  }
}

const sentenceOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.length > 200 ? `${message.slice(0, 200).toWellFormed()}…` : message;
};

const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** Control characters, and escapes: those that are none are one character long. */
const IN_STRING = /[^ -\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})?/g;

/** Offset of the first token that cannot stand where it stands, or of the fault in a string; the text's length where it was cut off. */
function firstWrong(text: string): number {
  const closers: ('}' | ']')[] = [];
  let due: 'name' | 'colon' | 'value' | 'after' = 'value';
  /** Directly after a bracket that opens. */
  let isFirst = false;
  for (let at = 0; ; ) {
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
    const char = text.charAt(at);
    if (char === '') return text.length;
    const mayClose = due === 'after' || isFirst;
    isFirst = false;
    if (char === closers.at(-1) && mayClose) {
      closers.pop();
      due = 'after';
      at += 1;
    } else if (due === 'after') {
      if (char !== ',' || closers.length === 0) return at;
      due = closers.at(-1) === '}' ? 'name' : 'value';
      at += 1;
    } else if (due === 'colon') {
      if (char !== ':') return at;
      due = 'value';
      at += 1;
    } else if (char === '"') {
      const end = afterString(text, at);
      for (const { 0: found, index } of text.slice(at + 1, end - 1).matchAll(IN_STRING))
        if (found.length === 1) return at + 1 + index;
      due = due === 'name' ? 'colon' : 'after';
      at = end;
    } else if (due === 'value' && (char === '{' || char === '[')) {
      closers.push(char === '{' ? '}' : ']');
      due = char === '{' ? 'name' : 'value';
      isFirst = true;
      at += 1;
    } else {
      WORD.lastIndex = at;
      const word = due === 'value' ? WORD.exec(text) : null;
      if (word === null) return at;
      due = 'after';
      at = WORD.lastIndex;
    }
  }
}

/** Parses text that `JSON.parse` accepted, keeping integers that a double would round. */
function withBigInts(text: string): FileJson {
  let at = 0;
  /** Index of the next character that is no white space. */
  const skip = (): number => {
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
    return at;
  };
  const quoted = (): string => {
    const from = at;
    at = afterString(text, at);
    return JSON.parse(text.slice(from, at));
  };
  const value = (): FileJson => {
    const char = text.charAt(skip());
    if (char === '"') return quoted();
    if (char === '[') return list();
    if (char === '{') return members();
    const lexeme = /[^,\]}\s]*/y;
    lexeme.lastIndex = at;
    const [word = ''] = lexeme.exec(text) ?? [];
    at += word.length;
    return /^[-\d]/.test(word) ? exact(word) : JSON.parse(word);
  };
  const list = (): FileJson => {
    const items: FileJson[] = [];
    at += 1;
    while (text.charAt(skip()) !== ']') {
      if (text.charAt(at) === ',') at += 1;
      else items.push(value());
    }
    at += 1;
    return items;
  };
  const members = (): FileJson => {
    const entries: [string, FileJson][] = [];
    at += 1;
    while (text.charAt(skip()) !== '}') {
      if (text.charAt(at) === ',') {
        at += 1;
        continue;
      }
      const key = quoted();
      skip();
      at += 1;
      entries.push([key, value()]);
    }
    at += 1;
    return Object.fromEntries(entries);
  };
  return value();
}

/** Offset after the string that begins with the quote at `from`; the text's length where it is not closed. */
function afterString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function exact(lexeme: string): number | bigint {
  const value = Number(lexeme);
  return /^-?\d+$/.test(lexeme) && !Number.isSafeInteger(value) ? BigInt(lexeme) : value;
}

/**
 * Keys of the first object in the beginning of a JSON file, an array's first item counting as such. `cut` says that the
 * head ended inside that object, so that more keys may follow. Keys are given as they are written, escapes and all.
 */
export function firstKeys(head: string): { readonly keys: readonly string[]; readonly cut: boolean } {
  const start = /^\uFEFF?[ \t\r\n]*(?:\[[ \t\r\n]*)?\{/.exec(head);
  if (start === null) return { keys: [], cut: false };
  const keys: string[] = [];
  let depth = 1;
  let i = start[0].length;
  while (i < head.length) {
    const char = head[i];
    if (char === '"') {
      const end = afterString(head, i);
      if (end >= head.length) return { keys, cut: true };
      if (depth === 1 && /^[ \t\r\n]*:/.test(head.slice(end, end + 64)))
        keys.push(head.slice(i + 1, end - 1));
      i = end;
      continue;
    }
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return { keys, cut: false };
    }
    i += 1;
  }
  return { keys, cut: true };
}

export const isObject = (value: FileJson | undefined): value is { readonly [key: string]: FileJson } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isList = (value: FileJson | undefined): value is readonly FileJson[] => Array.isArray(value);
export const textOf = (value: FileJson | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
