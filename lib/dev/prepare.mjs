import { existsSync, readFileSync, rmSync } from 'node:fs';
import { inRoot } from './paths.mjs';
import { runCommand, seconds } from './run-command.mjs';
import { digestOfFiles, stamped } from './stamp.mjs';

/* What `npm start`, `npm test` and `npm run bench` need before they can begin. Each step passes by where nothing changed. */

/** Thrown where a step failed; `output` is what the program said. */
export class PrepareError extends Error {
  constructor(message, output = '') {
    super(message);
    this.output = output;
  }
}

const NATIVE_HINT = [
  'better-sqlite3 is compiled where its ready-made binary cannot be downloaded. That needs Python 3, a C++ compiler',
  'and the headers of this Node:',
  '  Debian, Ubuntu   sudo apt-get install python3 g++ make',
  '  Fedora           sudo dnf install python3 gcc-c++ make',
  '  macOS            xcode-select --install',
  'Headers come with Node from nodejs.org and nvm; behind a closed network point npm at them: npm_config_nodedir=/usr/local',
].join('\n');

/** npm's own record of what it installed, written last. */
const INSTALLED = 'node_modules/.package-lock.json';
const LOCK = 'package-lock.json';

const readJson = (path) => JSON.parse(readFileSync(inRoot(path), 'utf8'));

/** True where node_modules holds what the lock file says, whoever installed it. */
function installedMatchesLock() {
  if (!existsSync(inRoot(INSTALLED))) return false;
  const wanted = readJson(LOCK).packages;
  const present = readJson(INSTALLED).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.link) return true;
    const found = present[path];
    return found === undefined
      ? entry.optional === true || entry.devOptional === true || entry.peer === true
      : found.version === entry.version;
  });
}

async function install(say) {
  if (!installedMatchesLock()) {
    say('Installing packages (npm ci) …');
    rmSync(inRoot(INSTALLED), { force: true });
    const npm = await runCommand('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']);
    if (npm.code !== 0) {
      const hint = /better-sqlite3|node-gyp|prebuild-install/.test(npm.output) ? `\n${NATIVE_HINT}` : '';
      throw new PrepareError(`npm ci failed.${hint}`, npm.output);
    }
    say(`Packages installed in ${seconds(npm.ms)}`);
  }
  await checkNativeModule(say);
}

/** A native module compiled for another Node (after a switch with nvm, say) is built again. */
async function checkNativeModule(say) {
  const digest = `${process.versions.modules} ${process.platform} ${process.arch} ${digestOfFiles([INSTALLED])}`;
  const opens = () =>
    runCommand(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:').close()"]);
  await stamped({ name: 'native', digest }, async () => {
    if ((await opens()).code === 0) return;
    say(`Building better-sqlite3 for Node ${process.version} …`);
    const rebuild = await runCommand('npm', ['rebuild', 'better-sqlite3']);
    const after = await opens();
    if (rebuild.code !== 0 || after.code !== 0) {
      throw new PrepareError(`better-sqlite3 does not load.\n${NATIVE_HINT}`, rebuild.output + after.output);
    }
  });
}

const isGenerated = (path) => /^prisma\/[^/]+\/client(\/|$)/.test(path);

/** Both database clients, where the models changed. */
async function generateClients(say) {
  const digest = digestOfFiles(['prisma', 'prisma.config.ts', LOCK], {
    skip: (path) => isGenerated(path) || path.includes('/migrations'),
  });
  await stamped(
    { name: 'generate', digest, makes: ['prisma/sqlite/client', 'prisma/postgres/client'] },
    async () => {
      const began = performance.now();
      const both = await Promise.all(
        ['sqlite', 'postgres'].map((provider) =>
          runCommand('node_modules/.bin/prisma', ['generate'], { env: { RERAIL_DB_PROVIDER: provider } }),
        ),
      );
      const broken = both.find((done) => done.code !== 0);
      if (broken !== undefined) throw new PrepareError('prisma generate failed.', broken.output);
      say(`Database clients generated in ${seconds(performance.now() - began)}`);
    },
  );
}

/** The SDK's package, which the demo, the tests and a replay's child process import by its name. */
async function buildSdk() {
  const digest = digestOfFiles(['lib/core', 'lib/sdk', 'tsconfig.json', LOCK], {
    skip: (path) => /[.]test(-d)?[.]ts$|^lib\/sdk\/dist(\/|$)|[.]md$/.test(path),
  });
  await stamped({ name: 'sdk', digest, makes: ['lib/sdk/dist/index.js'] }, async () => {
    const done = await runCommand(process.execPath, ['lib/sdk/build.mjs']);
    if (done.code !== 0) throw new PrepareError('Building the SDK failed.', done.output);
  });
}

const isNoInput = (path) =>
  isGenerated(path) ||
  /[.]test(-d)?[.]tsx?$|^lib\/(dev|testing|sdk\/dist|demo\/dist)(\/|$)|[.]md$/.test(path);
const digestOfBuild = () =>
  digestOfFiles(
    [
      'app',
      'components',
      'lib',
      'prisma',
      'next.config.ts',
      'postcss.config.mjs',
      'tsconfig.json',
      'instrumentation.ts',
      'proxy.ts',
      'public',
      LOCK,
    ],
    { skip: isNoInput, also: [process.version] },
  );

/** What can be built; the pages last, since they take longest and the others fail faster. */
const BUILDS = {
  server: {
    title: 'the console server',
    command: [process.execPath, 'lib/server/build.mjs'],
    makes: '.rerail/server/main.mjs',
  },
  copy: {
    title: 'the page of a copied run',
    command: [process.execPath, 'lib/copy/build.mjs'],
    makes: '.rerail/copy/page.html',
  },
  demo: {
    title: 'the demo',
    command: [process.execPath, 'lib/demo/build.mjs'],
    makes: '.rerail/demo/supervisor.mjs',
  },
  pages: {
    title: 'the pages',
    command: ['node_modules/.bin/next', 'build'],
    makes: '.next/BUILD_ID',
  },
};

async function build(names, say) {
  const digest = digestOfBuild();
  let began;
  for (const name of names) {
    const { title, command, makes } = BUILDS[name];
    await stamped({ name, digest, makes: [makes] }, async () => {
      if (began === undefined) say('Building …');
      began ??= performance.now();
      const done = await runCommand(command[0], command.slice(1));
      if (done.code !== 0) throw new PrepareError(`Building ${title} failed.`, done.output);
    });
  }
  if (began !== undefined) say(`Built in ${seconds(performance.now() - began)}`);
}

/** Installs, generates and builds what is missing or out of date; of the programs, those in `builds`. Throws `PrepareError`. */
export async function prepare({ say = console.log, builds = Object.keys(BUILDS) } = {}) {
  await install(say);
  await generateClients(say);
  await buildSdk();
  await build(builds, say);
}
