import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findChromium } from './chromium.mjs';
import { inRoot, root, workDir } from './paths.mjs';
import { PrepareError, prepare } from './prepare.mjs';
import { runCommand } from './run-command.mjs';

/** Whether what `--only` names is measured in a browser, on the built pages; everything is, without it. */
const needsPages = ([, only = '']) =>
  ['page', 'graph'].some((prefix) => prefix.startsWith(only) || only.startsWith(`${prefix}.`));

/** The programs that are measured. */
const builtFor = (args) => (needsPages(args) ? ['server', 'pages'] : ['server']);

async function chromiumFor(args) {
  if (!needsPages(args)) return {};
  const { path, advice } = await findChromium((line) => console.error(line));
  if (path === undefined) throw new PrepareError('The pages are measured in a browser.', advice);
  return { RERAIL_CHROMIUM: path };
}

/** `npm run bench [-- --only PREFIX]`: one JSON object a line on standard output; everything else goes to standard error. */
export async function runBench(args) {
  let chromium = {};
  try {
    chromium = await chromiumFor(args);
    await prepare({ say: (line) => console.error(line), builds: builtFor(args) });
    const done = await runCommand(process.execPath, ['lib/testing/bench/build.mjs']);
    if (done.code !== 0) throw new PrepareError('Building the benchmarks failed.', done.output);
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    console.error(`${error.output}\n${error.message}`);
    process.exit(1);
  }
  const bench = spawn(
    process.execPath,
    ['--expose-gc', '--enable-source-maps', join(workDir, 'bench', 'main.mjs'), ...args],
    {
      cwd: root,
      env: { ...process.env, ...chromium, RERAIL_ROOT: inRoot('.') },
      stdio: 'inherit',
    },
  );
  bench.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
