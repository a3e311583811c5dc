import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runCommand } from './run-command.mjs';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** What is asked of the machine. */
const MACHINE = {
  env: process.env,
  isRoot: () => process.getuid?.() === 0,
  exists: existsSync,
  run: runCommand,
};

function installedChromium({ env, exists }) {
  const folders = (env.PATH ?? '').split(delimiter);
  const candidates = [
    ...PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...MAC_APPS,
  ];
  return candidates.find((path) => exists(path));
}

/** Where Playwright keeps its own, when it is there. */
async function playwrightChromium({ run, exists }) {
  const asked = await run(process.execPath, [
    '-e',
    "process.stdout.write(require('@playwright/test').chromium.executablePath())",
  ]);
  return asked.code === 0 && exists(asked.output) ? asked.output : undefined;
}

/**
 * A Chromium for the journeys: `RERAIL_CHROMIUM`, an installed one, else Playwright's own. Under `CI`, as root, Debian's
 * package is installed. Elsewhere nothing is installed; `{ advice }` is the one command to run.
 */
export async function findChromium(say, machine = MACHINE) {
  const { env, isRoot, exists, run } = machine;
  const given = env.RERAIL_CHROMIUM;
  if (given) return exists(given) ? { path: given } : { advice: `RERAIL_CHROMIUM=${given} does not exist` };
  const found = installedChromium(machine) ?? (await playwrightChromium(machine));
  if (found !== undefined) return { path: found };
  const mayInstall = env.CI && isRoot() && exists('/usr/bin/apt-get');
  if (!mayInstall)
    return { advice: 'No Chromium was found. Install one with: npx playwright install chromium' };
  say('Installing Chromium (apt-get) …');
  const update = await run('apt-get', ['update', '-q']);
  const install = await run('apt-get', ['install', '-y', '-q', 'chromium'], {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  });
  const now = installedChromium(machine);
  return now === undefined
    ? { advice: `apt-get could not install chromium:\n${update.output}${install.output}` }
    : { path: now };
}
