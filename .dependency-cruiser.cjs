/*
 * The import table of ARCHITECTURE.md as an allow-list: whatever is not named is refused.
 * Tests and `lib/testing` may import anything; nothing may import them.
 */
const TESTS = '[.]test(-d)?[.](tsx?|mjs)$|^lib/testing/|^e2e/';
/** Scripts that compile a part; they run by themselves. */
const BUILDS = '/build[.]mjs$';
const CORE = '^lib/core/';
const WIRE = '^lib/wire/';
const PORTS = '^lib/usecases/ports[.]ts$';
const SDK = '^lib/sdk/';
const CLIENT = '^lib/client/';
const SERVER = '^lib/server/';
const PRISMA_CLIENTS = '^prisma/(sqlite|postgres)/client/';
const ANY_NPM = '^node_modules/';
const npm = (names) => `^node_modules/(@types/)?(${names})(/|$)`;

const rule = (name, from, to) => ({
  name,
  severity: 'error',
  from: { path: from, pathNot: [TESTS, BUILDS] },
  to,
});
/** Files under `from` import each other and what is listed; Node's own modules only with `onNode`. */
const only = (name, from, allowed) => rule(name, from, { pathNot: [from, ...allowed] });
const onNode = (name, from, allowed) =>
  rule(name, from, { pathNot: [from, ...allowed], dependencyTypesNot: ['core'] });

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('core-imports-nothing', CORE, []),
    only('wire-knows-core', WIRE, [CORE, npm('zod')]),
    only('usecases-know-core', '^lib/usecases/', [CORE]),
    onNode('sdk-stays-portable', SDK, [CORE, WIRE]),
    rule('sdk-takes-only-types-from-wire', SDK, { path: WIRE, dependencyTypesNot: ['type-only'] }),
    onNode('adapters-know-core-wire-ports', '^lib/(ingest|stores|engines)/', [
      CORE,
      WIRE,
      PORTS,
      PRISMA_CLIENTS,
      ANY_NPM,
    ]),
    only('client-stays-in-the-browser', CLIENT, [
      CORE,
      WIRE,
      npm('react|@tanstack/react-query|nuqs|zod'),
    ]),
    onNode('server-knows-all-but-client', SERVER, ['^lib/(?!client/|copy/|sdk/|demo/|dev/)', '^app/(api|v1)/', '^prisma/', ANY_NPM]),
    only('copy-is-a-page-without-a-console', '^lib/copy/', [
      '^lib/(core|wire|usecases|client|server)/',
      '^(components|app/api)/',
      ANY_NPM,
    ]),
    onNode('demo-knows-the-sdk', '^lib/demo/', [SDK]),
    rule('dev-runs-before-anything-is-installed', '^lib/dev/', {
      pathNot: '^lib/dev/',
      dependencyTypesNot: ['core'],
    }),
    only('ui-kit-knows-no-domain', '^components/ui/', [ANY_NPM]),
    only('components-know-core-and-client', '^components/', [CORE, CLIENT, ANY_NPM]),
    onNode('api-is-thin', '^app/(api|v1)/', ['^lib/(server|usecases|wire|core)/', npm('next|zod')]),
    only('pages-are-thin', '^app/(?!api/|v1/)', ['^components/', '^lib/(core|client|server)/', ANY_NPM]),
    {
      name: 'adapters-do-not-know-each-other',
      severity: 'error',
      from: { path: '^lib/(ingest|stores|engines)/([^/]+)/', pathNot: TESTS },
      to: { path: '^lib/(ingest|stores|engines)/[^/]+/', pathNot: '^lib/$1/$2/' },
    },
    {
      name: 'only-the-container-builds-adapters',
      severity: 'error',
      // The decoding thread has a root of its own: it picks the importers there.
      from: {
        pathNot: ['^lib/(ingest|stores|engines)/', '^lib/server/(container|decode-worker)[.]ts$', TESTS],
      },
      to: { path: '^lib/(stores|engines|ingest)/' },
    },
    {
      name: 'tests-are-leaves',
      severity: 'error',
      from: { pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: 'nothing-imports-the-demo',
      severity: 'error',
      from: { pathNot: ['^lib/demo/', TESTS] },
      to: { path: '^lib/demo/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', PRISMA_CLIENTS] },
    exclude: { path: '^([.]next|lib/sdk/dist|lib/demo/dist)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
};
