import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 as crcOfNode } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { crc32, fileNames, zipParts } from './zip';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Reads a ZIP with Python's standard library, which checks every checksum. */
function unzipped(file: Uint8Array): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'rerail-zip-'));
  try {
    const path = join(folder, 'a.zip');
    writeFileSync(path, file);
    const script =
      'import sys,zipfile,json;z=zipfile.ZipFile(sys.argv[1]);assert z.testzip() is None;' +
      'print(json.dumps({n:z.read(n).decode() for n in z.namelist()}))';
    return JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a ZIP of files', () => {
  it('is read by others, names and contents of any script and none at all included', () => {
    const files = { 'run_1.ndjson': '{"a":1}\n', 'прогон.ndjson': 'Ω'.repeat(70_000), 'empty.ndjson': '' };
    const parts = zipParts(
      Object.entries(files).map(([name, content]) => ({ name, content: bytes(content) })),
    );
    expect(unzipped(Buffer.concat(parts))).toEqual(files);
    // One without a file is its end alone.
    expect(Buffer.concat(zipParts([]))).toHaveLength(22);
  });

  it('has the checksum that zlib gives', () => {
    for (const text of ['', 'a', 'hello'.repeat(999)]) expect(crc32(bytes(text))).toBe(crcOfNode(text));
  });

  it('gives each run a name that no system refuses and no other has', () => {
    expect(fileNames(['run_1', '../../etc/passwd', 'a/b', 'a:b', 'A_B', '', '.x'], '.ndjson')).toEqual([
      'run_1.ndjson',
      '__.._etc_passwd.ndjson',
      'a_b.ndjson',
      'a_b-2.ndjson',
      'A_B-3.ndjson',
      '_.ndjson',
      '_x.ndjson',
    ]);
  });
});
