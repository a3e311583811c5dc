/* A ZIP file of parts as they are, not compressed: enough to give several files as one. */

export interface ZipFile {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Names are UTF-8. */
const UTF8_FLAG = 0x0800;
const VERSION = 20;
/** 1980-01-01: when a part was made, nobody asks. */
const DATE = 0x0021;
/** A file without the 64-bit form holds no more. */
export const MOST_FILES = 0xffff;
export const MOST_BYTES = 0xffffffff;

/** Fields of two and four bytes, little end first, then raw bytes. */
function record(
  fields: readonly (readonly [size: 2 | 4, value: number])[],
  tail: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const length = fields.reduce((sum, [size]) => sum + size, 0);
  const bytes = new Uint8Array(length + tail.length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  bytes.set(tail, length);
  return bytes;
}

/** The parts of the file, in order; a `Blob` of them is the file. Throws where it would be larger than ZIP allows. */
export function zipParts(files: readonly ZipFile[]): readonly Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, content } of files) {
    const label = new TextEncoder().encode(name);
    const common: readonly (readonly [2 | 4, number])[] = [
      [2, VERSION],
      [2, UTF8_FLAG],
      [2, 0],
      [2, 0],
      [2, DATE],
      [4, crc32(content)],
      [4, content.length],
      [4, content.length],
      [2, label.length],
      [2, 0],
    ];
    const head = record([[4, 0x04034b50], ...common], label);
    directory.push(
      record([[4, 0x02014b50], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]], label),
    );
    parts.push(head, content);
    offset += head.length + content.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  if (files.length > MOST_FILES || offset + size > MOST_BYTES)
    throw new RangeError('These runs together are larger than one ZIP file can be');
  const end = record(
    [
      [4, 0x06054b50],
      [2, 0],
      [2, 0],
      [2, files.length],
      [2, files.length],
      [4, size],
      [4, offset],
      [2, 0],
    ],
    new Uint8Array(),
  );
  return [...parts, ...directory, end];
}

/** A file's name for any text: what a system may not take in a name is written as `_`, and no two are the same. */
export function fileNames(texts: readonly string[], ending: string): readonly string[] {
  const taken = new Set<string>();
  return texts.map((text) => {
    const plain =
      text
        .replace(/[^\p{L}\p{N}._-]/gu, '_')
        .replace(/^\.+/, '_')
        .slice(0, 100) || '_';
    let name = `${plain}${ending}`;
    for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = `${plain}-${n}${ending}`;
    taken.add(name.toLowerCase());
    return name;
  });
}
