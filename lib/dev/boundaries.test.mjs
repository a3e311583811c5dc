import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inRoot } from './paths.mjs';

/* A tiny tree with one planted violation for each rule, and one import for each that is allowed. */

const folder = mkdtempSync(join(tmpdir(), 'rerail-boundaries-'));

/** Rule → importing file → what it imports. */
const planted = {
  'no-cycles': { 'lib/core/a.ts': './b', 'lib/core/b.ts': './a' },
  'core-imports-nothing': { 'lib/core/reads-disk.ts': 'node:fs' },
  'wire-knows-core': { 'lib/wire/uses-react.ts': 'react' },
  'usecases-know-core': { 'lib/usecases/uses-wire.ts': '@/lib/wire/shape' },
  'sdk-stays-portable': { 'lib/sdk/uses-zod.ts': 'zod' },
  'sdk-takes-only-types-from-wire': { 'lib/sdk/uses-schema.ts': '@/lib/wire/shape' },
  'adapters-know-core-wire-ports': { 'lib/stores/one/uses-usecase.ts': '@/lib/usecases/do-it' },
  'client-stays-in-the-browser': { 'lib/client/reads-disk.ts': 'node:fs' },
  'server-knows-all-but-client': { 'lib/server/uses-client.ts': '@/lib/client/api' },
  'copy-is-a-page-without-a-console': { 'lib/copy/uses-store.ts': '@/lib/stores/two/store' },
  'demo-knows-the-sdk': { 'lib/demo/uses-core.ts': '@/lib/core/fine' },
  'dev-runs-before-anything-is-installed': { 'lib/dev/uses-npm.mjs': 'zod' },
  'ui-kit-knows-no-domain': { 'components/ui/uses-core.tsx': '@/lib/core/fine' },
  'components-know-core-and-client': { 'components/run/uses-server.tsx': '@/lib/server/fine' },
  'api-is-thin': { 'app/api/v1/route.ts': '@/lib/client/api' },
  'pages-are-thin': { 'app/page.tsx': '@/lib/usecases/do-it' },
  'adapters-do-not-know-each-other': { 'lib/stores/one/uses-two.ts': '@/lib/stores/two/store' },
  'only-the-container-builds-adapters': { 'lib/server/builds-store.ts': '@/lib/stores/two/store' },
  'tests-are-leaves': { 'lib/core/uses-testing.ts': '@/lib/testing/builder' },
  'nothing-imports-the-demo': { 'lib/server/uses-demo.ts': '@/lib/demo/fine' },
  resolvable: { 'lib/core/uses-nothing.ts': './not-there' },
};

const allowed = {
  'lib/wire/shape.ts': ['zod', '@/lib/core/fine'],
  'lib/usecases/do-it.ts': ['@/lib/core/fine'],
  'lib/usecases/ports.ts': ['@/lib/core/fine'],
  'lib/stores/two/store.ts': [
    '@/lib/core/fine',
    '@/lib/wire/shape',
    '@/lib/usecases/ports',
    'zod',
    'node:fs',
  ],
  'lib/sdk/index.ts': ['@/lib/core/fine', 'node:http'],
  'lib/demo/fine.ts': ['@/lib/sdk/index', 'node:http'],
  'lib/client/api.ts': ['@/lib/core/fine', '@/lib/wire/shape', 'react'],
  'lib/server/container.ts': ['@/lib/stores/two/store', '@/lib/usecases/do-it', 'node:fs'],
  'lib/server/fine.ts': ['@/lib/wire/shape'],
  'components/run/fine.tsx': ['@/lib/client/api', '@/components/ui/fine', 'react'],
  'components/ui/fine.tsx': ['react'],
  'app/api/v1/fine.ts': ['@/lib/server/fine', '@/lib/usecases/do-it', '@/lib/wire/shape'],
  'lib/core/fine.test.ts': ['@/lib/testing/builder', 'node:fs', '@/lib/stores/two/store'],
  'lib/testing/builder.ts': ['@/lib/stores/two/store', 'zod'],
  'lib/dev/fine.mjs': ['node:fs'],
};

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const importing = (names) =>
  names.map((name, n) => `import * as i${n} from '${name}';\nexport { i${n} };\n`).join('');

let violations;

beforeAll(() => {
  const paths = { '@/*': ['./*'] };
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { module: 'esnext', moduleResolution: 'bundler', paths } }),
  );
  write('lib/core/fine.ts', 'export const fine = 1;\n');
  for (const name of ['zod', 'react']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, 'module.exports = {};\n');
  }
  write('package.json', JSON.stringify({ name: 'planted', dependencies: { zod: '1.0.0', react: '1.0.0' } }));
  for (const files of Object.values(planted)) {
    for (const [path, imported] of Object.entries(files)) write(path, importing([imported]));
  }
  for (const [path, imported] of Object.entries(allowed)) write(path, importing(imported));
  const depcruise = inRoot('node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [
    depcruise,
    '--config',
    inRoot('.dependency-cruiser.cjs'),
    '--output-type',
    'json',
    'app',
    'components',
    'lib',
  ];
  let output;
  try {
    output = execFileSync(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    output = error.stdout;
  }
  violations = JSON.parse(output).summary.violations;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the import table', () => {
  it.each(Object.keys(planted))('refuses what %s forbids', (rule) => {
    const files = Object.keys(planted[rule]);
    expect(violations.some((found) => found.rule.name === rule && files.includes(found.from))).toBe(true);
  });

  it('allows what ARCHITECTURE.md lists', () => {
    expect(violations.filter((found) => found.from in allowed)).toEqual([]);
  });

  it('has a planted violation for every rule', async () => {
    const { default: config } = await import(inRoot('.dependency-cruiser.cjs'));
    expect(config.forbidden.map((rule) => rule.name).sort()).toEqual(Object.keys(planted).sort());
  });
});
