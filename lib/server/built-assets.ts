import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const PREFIX = '/_next/static/';
const compress = promisify(gzip);

/** What a build of the pages holds. A file of another kind is Next's to send. */
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** Absent where the body is compressed already. */
  gzipped?: Buffer;
}

/**
 * Answers for the scripts, styles and fonts that were built with the pages; false where another has to. They are held in
 * memory, some megabytes, and compressed once: a page's first opening does not wait for either, and a build that takes
 * the files away under a running console takes nothing from the pages that it shows.
 */
export async function builtAssets(
  root: string,
): Promise<(req: IncomingMessage, res: ServerResponse) => boolean> {
  const folder = join(root, '.next/static');
  const assets = new Map<string, Asset>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const name = PREFIX + relative(folder, path).split(sep).map(encodeURIComponent).join('/');
    assets.set(name, { type, body: await readFile(path) });
  }
  // What could not be compressed is sent as it is.
  compressAll([...assets.values()]).catch(() => undefined);
  return (req, res) => {
    const asset = assets.get((req.url ?? '').split('?', 1)[0] ?? '');
    if (asset === undefined || (req.method !== 'GET' && req.method !== 'HEAD')) return false;
    const zipped = takesGzip(req.headers['accept-encoding']) ? asset.gzipped : undefined;
    const body = zipped ?? asset.body;
    res.writeHead(200, {
      'content-type': asset.type,
      'content-length': body.length,
      // Names tell the content.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(zipped !== undefined && { 'content-encoding': 'gzip' }),
    });
    res.end(req.method === 'HEAD' ? undefined : body);
    return true;
  };
}

/** One after the other, so that a console that just started has the machine for its first page. */
async function compressAll(assets: readonly Asset[]): Promise<void> {
  for (const asset of assets)
    if (asset.type !== 'font/woff2') asset.gzipped = await compress(asset.body, { level: 9 });
}

const takesGzip = (accepted: string | string[] | undefined): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(accepted ?? ''));
