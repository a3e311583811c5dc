import { spawn } from 'node:child_process';

/** Runs a program to its end; throws what it said where it failed. Resolves to its standard output. */
export function runCommand(program: string, args: readonly string[], cwd?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      said += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}\n${said}`));
    });
  });
}
