import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inRoot, root, workDir } from './paths.mjs';
import { PrepareError, prepare } from './prepare.mjs';
import { runCommand } from './run-command.mjs';

/** `npm run bench [-- --only PREFIX]`: one JSON object a line on standard output; everything else goes to standard error. */
export async function runBench(args) {
  try {
    await prepare({ say: (line) => console.error(line), builds: ['server'] });
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
      env: { ...process.env, RERAIL_ROOT: inRoot('.') },
      stdio: 'inherit',
    },
  );
  bench.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
