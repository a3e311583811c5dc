import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figures';
import { chosenBy, isNamed, rows } from './rows';

/** What `--only` names; everything without it. */
function onlyFrom(args: readonly string[]): string {
  const [option, prefix, ...more] = args;
  if (option === undefined) return '';
  if (option !== '--only' || !prefix || more.length > 0) refuse('Usage: npm run bench [-- --only PREFIX]');
  return prefix;
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

const only = onlyFrom(process.argv.slice(2));
const chosen = chosenBy(only);
if (chosen.length === 0)
  refuse(`Nothing is named ${only}. There is: ${rows.map(({ prefix }) => prefix).join(', ')}`);
const folder = mkdtempSync(join(tmpdir(), 'rerail-bench-'));
const measured: Figure[] = [];
try {
  for (const row of chosen) {
    process.stderr.write(`Measuring ${row.prefix} …\n`);
    const figures = await row.measure(folder);
    measured.push(...figures);
    for (const one of figures) {
      if (isNamed(one, only)) process.stdout.write(`${JSON.stringify(one)}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (!measured.some((one) => isNamed(one, only)))
  refuse(`Nothing is named ${only}. There is: ${measured.map(({ name }) => name).join(', ')}`);
