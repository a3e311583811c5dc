import { expect, it } from 'vitest';
import { findChromium } from './chromium.mjs';

const INSTALLED = '/usr/bin/chromium';
const PLAYWRIGHTS = '/home/tester/.cache/ms-playwright/chromium-1/chrome';
const APT = '/usr/bin/apt-get';
const ADVICE = { advice: 'No Chromium was found. Install one with: npx playwright install chromium' };

/**
 * What is found on a machine that has these files, and what apt-get was asked for. There it installs Debian's package
 * unless it is `broken`; Playwright, once it is installed itself, always tells where its own would be.
 */
async function on({ files = [], env = {}, root = false, playwright = true, broken = false }) {
  const there = new Set(files);
  const apt = [];
  const said = [];
  const run = async (command, args) => {
    if (command === process.execPath)
      return playwright ? { code: 0, output: PLAYWRIGHTS } : { code: 1, output: 'Cannot find module' };
    apt.push([command, ...args].join(' '));
    if (broken) return { code: 100, output: 'no network\n' };
    if (args[0] === 'install') there.add(INSTALLED);
    return { code: 0, output: '' };
  };
  const machine = {
    env: { PATH: '/usr/local/bin:/usr/bin', ...env },
    isRoot: () => root,
    exists: (path) => there.has(path),
    run,
  };
  return { found: await findChromium((line) => said.push(line), machine), apt, said };
}
/** Where Debian's package may be installed. */
const CI_AS_ROOT = { env: { CI: 'true' }, root: true };

it.each([
  [
    'the one that RERAIL_CHROMIUM names',
    '/opt/mine',
    { files: ['/opt/mine', INSTALLED], env: { RERAIL_CHROMIUM: '/opt/mine' } },
  ],
  ['an installed one', INSTALLED, { files: [INSTALLED, PLAYWRIGHTS], env: { RERAIL_CHROMIUM: '' } }],
  [
    'an installed one of another name, in another folder',
    '/usr/local/bin/google-chrome',
    { files: ['/usr/local/bin/google-chrome', PLAYWRIGHTS] },
  ],
  [
    'an installed application of macOS',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    { files: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', PLAYWRIGHTS] },
  ],
  ["Playwright's own where none is installed", PLAYWRIGHTS, { files: [PLAYWRIGHTS] }],
])('the journeys take %s, and nothing is installed', async (_, path, machine) => {
  const there = { ...machine, files: [...machine.files, APT] };
  const { env } = CI_AS_ROOT;
  const under = await on({ ...there, ...CI_AS_ROOT, env: { ...machine.env, ...env } });
  for (const tried of [await on(there), under]) expect(tried).toEqual({ found: { path }, apt: [], said: [] });
});

it('a RERAIL_CHROMIUM that does not exist is told, and no other is taken', async () => {
  const env = { RERAIL_CHROMIUM: '/opt/gone' };
  const { found } = await on({ files: [INSTALLED], env });
  expect(found).toEqual({ advice: 'RERAIL_CHROMIUM=/opt/gone does not exist' });
});

it.each([[true], [false]])(
  'under CI, as root, Debian’s package is installed and taken (Playwright is there: %s)',
  async (playwright) => {
    expect(await on({ files: [APT], ...CI_AS_ROOT, playwright })).toEqual({
      found: { path: INSTALLED },
      apt: ['apt-get update -q', 'apt-get install -y -q chromium'],
      said: ['Installing Chromium (apt-get) …'],
    });
  },
);

it('what apt-get said is told where it could not install', async () => {
  const { found } = await on({ files: [APT], ...CI_AS_ROOT, broken: true });
  expect(found).toEqual({ advice: 'apt-get could not install chromium:\nno network\nno network\n' });
});

it.each([
  ['under CI without being root', { files: [APT], env: { CI: 'true' } }],
  ['as root without CI', { files: [APT], root: true }],
  ['as root with an empty CI', { files: [APT], root: true, env: { CI: '' } }],
  ['under CI, as root, without apt-get', { ...CI_AS_ROOT }],
])('%s nothing is installed, and the one command to run is told', async (_, machine) => {
  expect(await on(machine)).toEqual({ found: ADVICE, apt: [], said: [] });
});
