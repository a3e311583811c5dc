import { spawn } from 'node:child_process';

/*
 * Runs the program that its arguments name inside the process group that it leads, and ends with its status. Where the
 * channel to the parent closes, however the parent ended, all of the group ends: asked first, killed as soon as the
 * program itself is gone.
 */
const PATIENCE_MS = 3_000;
const [command, ...args] = process.argv.slice(2);
const killGroup = () => process.kill(0, 'SIGKILL');
let stopping = false;

// A signal to the whole group is for the program; we end after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.once('disconnect', () => {
  stopping = true;
  process.kill(0, 'SIGTERM');
  setTimeout(killGroup, PATIENCE_MS);
});
if (!process.connected) process.exit(1);

const program = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
program.on('error', (error) => {
  console.error(`${command}: ${error.message}`);
  process.exit(1);
});
program.on('exit', (code) => {
  if (stopping) killGroup();
  else process.exit(code ?? 1);
});
