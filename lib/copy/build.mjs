import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/postcss';
import { build } from 'esbuild';
import postcss from 'postcss';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const here = (path) => resolve(root, 'lib/copy', path);
const modules = (path) => resolve(root, 'node_modules', path);

/** What the pages get from Next and from the console's process, and a file has to bring along. */
const STAND_INS = {
  'next/link': here('next/link.tsx'),
  'next/navigation': here('next/navigation.ts'),
  'next/dynamic': here('next/dynamic.tsx'),
};

/** No read of a run comes to any of these; whoever calls one all the same hears so. */
const ABSENT = `
const absent = (name) => name === 'promisify' ? (f) => f : () => { throw new Error(name + ' is not there in a copy') };
module.exports = Object.create(new Proxy({}, { get: (_, name) => absent(String(name)) }));
`;

const standIns = {
  name: 'stand-ins',
  setup(on) {
    on.onResolve({ filter: /^next\// }, ({ path }) =>
      STAND_INS[path] === undefined
        ? { errors: [{ text: `The run's page uses ${path}: give the copy a stand-in in lib/copy/next` }] }
        : { path: STAND_INS[path] },
    );
    on.onResolve({ filter: /start-elk$/ }, () => ({ path: here('elk.ts') }));
    on.onResolve({ filter: /^node:|^pino$|(^|\/)(container|gate)$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }));
    // zod brings every language's words of refusal along.
    on.onLoad({ filter: /zod[/\\]v4[/\\]locales[/\\]index[.]js$/ }, () => ({
      contents: 'export { default as en } from "./en.js"',
    }));
    on.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: ABSENT, loader: 'js' }));
  },
};

async function script() {
  const { outputFiles } = await build({
    entryPoints: [here('page.tsx')],
    bundle: true,
    write: false,
    minify: true,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    jsx: 'automatic',
    alias: { '@': root },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [standIns],
    logLevel: 'warning',
  });
  return outputFiles[0].text;
}

/** The console's own styles; fonts inside, since a file has no neighbours. */
async function styles() {
  const from = resolve(root, 'app/globals.css');
  const { css } = await postcss([tailwind({ optimize: { minify: true } })]).process(await readFile(from), {
    from,
  });
  const face = async (family, file, weight) => {
    const font = (await readFile(modules(file))).toString('base64');
    return `@font-face{font-family:"${family}";font-weight:${weight};src:url(data:font/woff2;base64,${font}) format("woff2")}`;
  };
  return [
    css,
    await face('Inter', '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2', '100 900'),
    await face(
      'JetBrains Mono',
      '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
      '100 800',
    ),
  ].join('\n');
}

const packed = (text) => gzipSync(text, { level: 9 }).toString('base64');
const digest = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing may be asked of anybody; scripts are the file's own one; React and React Flow set styles. */
const policy = (code) =>
  [
    "default-src 'none'",
    `script-src ${digest(code)}`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "connect-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ');

/** Text that ends its element early, or turns the parser over, must not come out of a bundler unseen. */
function assertInert(name, text, pattern) {
  const found = pattern.exec(text);
  if (found !== null)
    throw new Error(`The ${name} of a copy holds ${text.slice(found.index, found.index + 60)}`);
}

/** Writes the page of a copy, with a mark where title and data go. Returns the file's path. */
export async function buildCopy(outfile = resolve(root, '.rerail/copy/page.html')) {
  const [code, css, elk] = await Promise.all([
    script(),
    styles(),
    readFile(modules('elkjs/lib/elk-worker.min.js'), 'utf8'),
  ]);
  assertInert('script', code, /<\/script|<!--/i);
  assertInert('style', css, /<\/style|@import|url\((?!["']?(?:data:|#))/i);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(code)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title><!--rerail:title--></title>
<style>${css}</style>
</head>
<body>
<div id="root"><main class="page"><p class="p-4 second">Unpacking this copy of a run …</p></main></div>
<noscript>This copy of a run is drawn by a script that it brings along; nothing is loaded from anywhere.</noscript>
<script type="application/octet-stream" id="rerail-elk">${packed(elk)}</script>
<script type="application/octet-stream" id="rerail-copy"><!--rerail:data--></script>
<script>${code}</script>
</body>
</html>
`;
  await mkdir(dirname(outfile), { recursive: true });
  await writeFile(outfile, page);
  return outfile;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildCopy();
