import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from './chromium.mjs';
import { seeDemo } from './demo-on-screen.mjs';
import { root } from './paths.mjs';
import { runCommand, seconds, spawnGuarded } from './run-command.mjs';

/* The promise of README.md: from an empty folder, one command, the demo on screen within two minutes beyond npm ci. */

const LIMIT_MS = 120_000;
/** A start with nothing changed: the programs come up, nothing is installed or built. */
const AGAIN_LIMIT_MS = 20_000;
const GIVE_UP_MS = 600_000;
const ORPHANS_END_WITHIN_MS = 20_000;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** True once something answers there. */
const answers = (url) =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** The environment without what would point the clone at somebody else's data. */
const ownEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(RERAIL_|DATABASE_URL$|npm_)/.test(name)),
  );

/** `npm start` in `folder`: what it printed, when the demo was on the screen of `chromium`, and how to end it. */
function startIn(folder, port, chromium) {
  const began = performance.now();
  const lines = [];
  const env = { ...ownEnvironment(), PORT: String(port) };
  const child = spawnGuarded('npm', ['start'], { cwd: folder, env });
  const take = (chunk) => lines.push(chunk.toString());
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = new Promise((resolve) => child.on('close', resolve));
  let over = false;
  void ended.then(() => {
    over = true;
  });
  return {
    output: () => lines.join(''),
    /** `{ ms }` until then, else `{ why }` it was not. */
    async untilDemo() {
      const url = `http://127.0.0.1:${port}`;
      const passed = () => performance.now() - began;
      while (!(await answers(`${url}/api/v1/runs`))) {
        if (over || passed() > GIVE_UP_MS) return { why: 'the console never answered' };
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      try {
        await seeDemo({ url, folder, chromium, withinMs: GIVE_UP_MS - passed(), ended });
        return { ms: passed() };
      } catch (error) {
        return { why: error.message };
      }
    },
    /** SIGINT is Ctrl-C as a terminal sends it, to the whole foreground group; SIGKILL a crash of all of it. */
    async stop(signal) {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // It had ended.
      }
      await ended;
    },
  };
}

/** Time that `npm start` says that it spent in `npm ci`. */
const installMs = (output) => Number(/Packages installed in ([\d.]+) s/.exec(output)?.[1] ?? 0) * 1000;

/** What `npm start` says beside npm's own lines and where to go: that it installed, generated or built something. */
const preparations = (output) =>
  output.split('\n').filter((line) => line !== '' && !/^(> |npm |demo: |Rerail is at )/.test(line));

/** Command lines of processes that run something in `folder`; `ww`, or macOS cuts them at 79 columns. */
async function processesIn(folder) {
  const { output } = await runCommand('ps', ['-axwwo', 'args=']);
  return output
    .split('\n')
    .filter((line) => line.includes(`${folder}/.rerail/`) || line.includes(`${folder}/lib/dev/`));
}

/** What is still running in `folder` after `ORPHANS_END_WITHIN_MS`. */
async function orphansIn(folder) {
  const giveUpAt = Date.now() + ORPHANS_END_WITHIN_MS;
  for (;;) {
    const left = await processesIn(folder);
    if (left.length === 0 || Date.now() > giveUpAt) return left;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function tryIn(folder) {
  const { path: chromium, advice } = await findChromium(console.log);
  if (chromium === undefined) return { ok: false, why: advice };
  const clone = await runCommand('git', ['clone', '--quiet', `file://${root}`, folder]);
  if (clone.code !== 0) return { ok: false, why: clone.output };
  const { output: changes } = await runCommand('git', ['status', '--porcelain']);
  if (changes !== '')
    console.log(`  ${changes.trimEnd().split('\n').length} uncommitted changes are not part of it`);
  const port = await freePort();
  const first = startIn(folder, port, chromium);
  const { ms: firstMs, why: notFirst } = await first.untilDemo();
  await first.stop('SIGINT');
  const afterCtrlC = await orphansIn(folder);
  if (firstMs === undefined)
    return { ok: false, why: `the demo never came on screen: ${notFirst}\n${first.output()}` };
  const beyondInstall = firstMs - installMs(first.output());
  console.log(
    `  first start: demo on screen in ${seconds(firstMs)}, ${seconds(beyondInstall)} beyond npm ci (limit ${seconds(LIMIT_MS)})`,
  );
  if (afterCtrlC.length > 0) return { ok: false, why: `Ctrl-C left running:\n${afterCtrlC.join('\n')}` };
  const again = startIn(folder, port, chromium);
  const { ms: againMs, why: notAgain } = await again.untilDemo();
  await again.stop('SIGKILL');
  const afterCrash = await orphansIn(folder);
  if (againMs === undefined)
    return { ok: false, why: `the second start failed: ${notAgain}\n${again.output()}` };
  console.log(
    `  second start, nothing changed: demo on screen in ${seconds(againMs)} (limit ${seconds(AGAIN_LIMIT_MS)})`,
  );
  const prepared = preparations(again.output());
  if (prepared.length > 0)
    return { ok: false, why: `the second start prepared again:\n${prepared.join('\n')}` };
  if (afterCrash.length > 0)
    return { ok: false, why: `SIGKILL of npm start left running:\n${afterCrash.join('\n')}` };
  if (beyondInstall > LIMIT_MS) return { ok: false, why: 'the first start took longer than its limit' };
  if (againMs > AGAIN_LIMIT_MS) return { ok: false, why: 'the second start took longer than its limit' };
  return { ok: true };
}

/** A stage of `npm test -- --fresh-clone`, as `.ci/run` calls it. It sees what is committed and nothing else. */
export async function tryFreshClone() {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'rerail-clone-'));
  try {
    const { ok, why } = await tryIn(join(folder, 'rerail'));
    return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, detail: why };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
