import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { lives } from './child.mjs';
import { inRoot } from './paths.mjs';

/*
 * `npm start` as it is, in a repository whose programs are stand-ins: npm, Prisma and Next write down that they were
 * called, the console answers `console` to everything, the demo has a part that ends when its channel closes.
 */

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'rerail-start-'));
const repository = join(folder, 'repository');
const inRepository = (path) => join(repository, path);
const PATIENCE = { timeout: 15_000, interval: 20 };

function put(path, text) {
  mkdirSync(dirname(inRepository(path)), { recursive: true });
  writeFileSync(inRepository(path), text);
}
function putProgram(path, text) {
  put(path, `#!/bin/sh\n${text}\n`);
  chmodSync(inRepository(path), 0o755);
}
const building = (name, source, target) => `
  import { appendFileSync, copyFileSync, mkdirSync } from 'node:fs';
  import { dirname } from 'node:path';
  appendFileSync('work.log', 'build ${name}\\n');
  mkdirSync(dirname('${target}'), { recursive: true });
  copyFileSync('${source}', '${target}');`;
const NOTING = `
  import { appendFileSync } from 'node:fs';
  const note = (file, line) => appendFileSync(process.env.RERAIL_DATA_DIR + '/' + file, line + '\\n');`;

const CONSOLE = `${NOTING}
  import { createServer } from 'node:http';
  const server = createServer((_, response) => response.end('console'));
  note('pids', process.pid);
  server.listen(Number(process.env.PORT), process.env.HOST, () =>
    console.log('rerail: http://' + process.env.HOST + ':' + server.address().port));
  process.on('SIGTERM', () => {
    note('ends', 'console');
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });`;
const DEMO = `${NOTING}
  import { fork } from 'node:child_process';
  note('pids', process.pid);
  if (process.argv[2] === 'part') {
    process.once('disconnect', () => process.exit(0));
    process.send('up');
  } else {
    const part = fork(process.argv[1], ['part'], { execArgv: [] });
    part.once('message', () => console.log('what only the log is told\\ndemo: ready'));
    process.on('SIGTERM', async () => {
      const answer = fetch(process.env.RERAIL_CONSOLE_URL).then((response) => response.text());
      note('ends', 'demo, and it heard the ' + (await answer.catch(() => 'silence')));
      part.once('exit', () => process.exit(0));
      part.disconnect();
    });
  }`;
const BENCH = `
  console.error('measuring');
  console.log(JSON.stringify(process.argv.slice(2)));
  process.exitCode = 3;`;

beforeAll(() => {
  cpSync(inRoot('lib/dev'), inRepository('lib/dev'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.mjs'),
  });
  put('package-lock.json', JSON.stringify({ packages: { 'node_modules/some': { version: '1.0.0' } } }));
  put('node_modules/better-sqlite3/index.js', 'module.exports = class { close() {} };');
  putProgram(
    'bin/npm',
    `echo "npm $1" >> work.log
    if [ -n "$HANG" ]; then echo $$ > "$RERAIL_DATA_DIR/pids"; exec sleep 600; fi
    cp package-lock.json node_modules/.package-lock.json`,
  );
  putProgram(
    'node_modules/.bin/prisma',
    'echo "prisma $1 $RERAIL_DB_PROVIDER" >> work.log; mkdir -p "prisma/$RERAIL_DB_PROVIDER/client"',
  );
  putProgram('node_modules/.bin/next', 'echo "next $1" >> work.log; mkdir -p .next; echo 1 > .next/BUILD_ID');
  put('lib/sdk/index.js', '');
  put('lib/sdk/build.mjs', building('sdk', 'lib/sdk/index.js', 'lib/sdk/dist/index.js'));
  put('lib/server/main.mjs', CONSOLE);
  put('lib/server/build.mjs', building('server', 'lib/server/main.mjs', '.rerail/server/main.mjs'));
  put('lib/copy/page.html', 'a page');
  put('lib/copy/build.mjs', building('copy', 'lib/copy/page.html', '.rerail/copy/page.html'));
  put('lib/demo/supervisor.mjs', DEMO);
  put('lib/demo/build.mjs', building('demo', 'lib/demo/supervisor.mjs', '.rerail/demo/supervisor.mjs'));
  put('lib/testing/bench/main.mjs', BENCH);
  put(
    'lib/testing/bench/build.mjs',
    building('bench', 'lib/testing/bench/main.mjs', '.rerail/bench/main.mjs'),
  );
});
const started = new Set();
afterEach(async () => {
  for (const start of started) start.signalGroup('SIGTERM');
  await Promise.all([...started].map(({ ended }) => ended));
  started.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);
/** What was installed, generated and built so far. */
const work = () => linesOf(inRepository('work.log')).sort();
/** Listens on a port of 127.0.0.1, or fails with the reason. */
const listening = (port) =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
const closed = (server) => new Promise((resolve) => server.close(resolve));

/** `npm start -- …args`, as leader of a process group, as a terminal starts it; `command` as npm runs it. */
function start(args, env = {}, [command, ...before] = [process.execPath, 'lib/dev/start.mjs']) {
  const data = mkdtempSync(join(folder, 'data-'));
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(RERAIL_|DATABASE_URL$|PORT$|npm_|NODE_|VITEST)/.test(name),
  );
  const child = spawn(command, [...before, ...args], {
    cwd: repository,
    env: {
      ...Object.fromEntries(own),
      PATH: `${inRepository('bin')}:${process.env.PATH}`,
      PORT: '0',
      RERAIL_DATA_DIR: data,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const self = {
    child,
    data,
    output: () => output,
    lines: () => output.trimEnd().split('\n'),
    ended: new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal))),
    heard: (pattern) => vi.waitFor(() => expect(output).toMatch(pattern), PATIENCE),
    url: () => /http:\S+/.exec(output)?.[0],
    pids: () => linesOf(join(data, 'pids')).map(Number),
    signalGroup(signal) {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // It has ended.
      }
    },
  };
  started.add(self);
  return self;
}

/** Everything that it ran is gone, and its port is free again. */
async function nothingLeft({ url, pids, count }) {
  expect(pids).toHaveLength(count);
  expect(pids.filter(lives)).toEqual([]);
  await closed(await listening(Number(new URL(url).port)));
}

describe('what is refused before anything is installed', () => {
  it.each([['--no-demos'], ['3001'], ['--no-demo', '--help']])('an unknown option: %s', async (...args) => {
    const unknown = args.at(-1);
    const before = work();
    const refused = start(args);
    expect(await refused.ended).toBe(1);
    expect(refused.lines()).toEqual([`Unknown option ${unknown}. Usage: npm start [-- --no-demo]`]);
    expect(work()).toEqual(before);
  });

  it.each([
    ['the next one', 0, (port) => port + 1],
    ['one that exists, the next one does not', 65_535, () => 3001],
  ])('a port in use: it is named, with what to do and another port, %s', async (_, asked, other) => {
    const taken = await listening(asked);
    const { port } = taken.address();
    const before = work();
    const refused = start([], { PORT: String(port) });
    expect(await refused.ended).toBe(1);
    await closed(taken);
    expect(refused.lines()).toEqual([
      `Port ${port} on 127.0.0.1 is in use. Stop what listens there (lsof -i :${port} names it), or choose another: PORT=${other(port)} npm start`,
    ]);
    expect(work()).toEqual(before);
  });

  it.each(['http', '-1', '3000.5', '65536'])('PORT=%s', async (text) => {
    const refused = start([], { PORT: text });
    expect(await refused.ended).toBe(1);
    expect(refused.lines()).toEqual([
      expect.stringMatching(new RegExp(`^PORT=${text} is no port: .*PORT=3001 npm start$`)),
    ]);
  });
});

describe('a first start, and a second one', () => {
  it('installs and builds everything once; with nothing changed nothing at all, and says one line: where to go', async () => {
    rmSync(inRepository('work.log'), { force: true });
    const first = start(['--no-demo']);
    await first.heard(/Rerail is at/);
    const all = ['build copy', 'build demo', 'build sdk', 'build server', 'next build', 'npm ci'];
    expect(work()).toEqual([...all, 'prisma generate postgres', 'prisma generate sqlite']);
    first.signalGroup('SIGINT');
    expect(await first.ended).toBe(0);

    const again = start([]);
    await again.heard(/^demo: ready$/m);
    expect(work()).toHaveLength(8);
    expect(again.lines().sort()).toEqual([
      `Rerail is at ${again.url()} with its demo (Ctrl-C stops it, logs are in ${join(again.data, 'logs')})`,
      'demo: ready',
    ]);
    expect(again.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(again.url())).text()).toBe('console');
  });

  it('with --no-demo runs the console alone, and says so', async () => {
    const alone = start(['--no-demo']);
    await alone.heard(/Rerail is at/);
    expect(alone.lines()).toEqual([
      `Rerail is at ${alone.url()} (Ctrl-C stops it, logs are in ${join(alone.data, 'logs')})`,
    ]);
    alone.signalGroup('SIGINT');
    expect(await alone.ended).toBe(0);
    expect(linesOf(join(alone.data, 'ends'))).toEqual(['console']);
    await nothingLeft({ url: alone.url(), pids: alone.pids(), count: 1 });
  });

  it('takes empty variables for ones that are not set', async () => {
    // Whoever else may have it already: it is in use, and that is what shows which port is meant.
    const taken = await listening(3_000).catch(() => undefined);
    const refused = start([], { PORT: '' });
    expect(await refused.ended).toBe(1);
    if (taken !== undefined) await closed(taken);
    expect(refused.output()).toMatch(/^Port 3000 on 127\.0\.0\.1 is in use/);

    const usual = start(['--no-demo'], { RERAIL_DATA_DIR: '' });
    await usual.heard(/Rerail is at/);
    expect(usual.output()).toContain(`logs are in ${inRepository('data/logs')})`);
    expect(existsSync(inRepository('logs'))).toBe(false);
  });
});

describe('a stop', () => {
  const AS_NPM = ['sh', '-c', `'${process.execPath}' lib/dev/start.mjs; exit $?`];

  it.each([
    ['Ctrl-C, which reaches the whole group', 0, undefined, (running) => running.signalGroup('SIGINT')],
    ['a SIGTERM to it alone', 0, undefined, (running) => running.child.kill('SIGTERM')],
    ['a closed terminal', 0, undefined, (running) => running.signalGroup('SIGHUP')],
    ['a SIGTERM to npm alone', 'SIGTERM', AS_NPM, (running) => running.child.kill('SIGTERM')],
    ['a SIGKILL of npm alone', 'SIGKILL', AS_NPM, (running) => running.child.kill('SIGKILL')],
  ])(
    'by %s ends the demo while the console still answers, then the console, and leaves nothing',
    async (_, code, command, stop) => {
      const running = start([], { npm_lifecycle_event: 'start' }, command);
      await running.heard(/^demo: ready$/m);
      const [url, pids] = [running.url(), running.pids()];
      expect(pids.map(lives)).toEqual([true, true, true]);
      stop(running);
      expect(await running.ended).toBe(code);
      expect(linesOf(join(running.data, 'ends'))).toEqual(['demo, and it heard the console', 'console']);
      await nothingLeft({ url, pids, count: 3 });
    },
  );

  it('by SIGKILL of it ends all the same', async () => {
    const running = start([]);
    await running.heard(/^demo: ready$/m);
    const [url, pids] = [running.url(), running.pids()];
    running.child.kill('SIGKILL');
    // Whoever inherits them may be slow to see them off.
    await vi.waitFor(() => expect(pids.filter(lives)).toEqual([]), PATIENCE);
    await nothingLeft({ url, pids, count: 3 });
  });

  it('by Ctrl-C while it installs ends npm with what that runs; the next start installs', async () => {
    rmSync(inRepository('node_modules/.package-lock.json'), { force: true });
    const cut = start([], { HANG: 'yes' });
    await vi.waitFor(() => expect(cut.pids()).toHaveLength(1), PATIENCE);
    expect(cut.pids().map(lives)).toEqual([true]);
    cut.signalGroup('SIGINT');
    expect(await cut.ended).toBe(130);
    await vi.waitFor(() => expect(cut.pids().filter(lives)).toEqual([]), PATIENCE);

    const before = work().length;
    const next = start(['--no-demo']);
    await next.heard(/Rerail is at/);
    expect(work().length).toBeGreaterThan(before);
  });
});

it('a console that ends by itself ends everything, with what it said last', async () => {
  const running = start([]);
  await running.heard(/^demo: ready$/m);
  const [url, pids] = [running.url(), running.pids()];
  process.kill(pids[0], 'SIGKILL');
  expect(await running.ended).toBe(1);
  expect(running.lines().at(-1)).toBe('The console ended by itself (SIGKILL).');
  expect(linesOf(join(running.data, 'ends'))).toEqual(['demo, and it heard the silence']);
  await nothingLeft({ url, pids, count: 3 });
});

it('npm run bench has its own words on standard error, and is the bench in what it is asked, prints and ends with', async () => {
  rmSync(inRepository('.rerail'), { recursive: true, force: true });
  const bench = start(['--only', 'upload'], {}, [process.execPath, 'lib/dev/bench.mjs']);
  let printed = '';
  bench.child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  expect(await bench.ended).toBe(3);
  expect(printed).toBe('["--only","upload"]\n');
  expect(bench.output()).toMatch(/^Building …$/m);
});
