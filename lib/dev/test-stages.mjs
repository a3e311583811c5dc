import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { findChromium } from './chromium.mjs';
import { countLines, countPlaywright, countVitest, one, sum } from './counts.mjs';
import { tryFreshClone } from './fresh-clone.mjs';
import { inRoot, workDir } from './paths.mjs';
import { PrepareError, prepare } from './prepare.mjs';
import { runCommand, seconds } from './run-command.mjs';

const bin = (name) => inRoot(`node_modules/.bin/${name}`);

/** A program that passes or fails as a whole. */
const program = (command, args, env) => async () => {
  const done = await runCommand(command, args, { env });
  return one(done.code === 0, done.output);
};

const report = (name) => {
  const file = join(workDir, 'reports', `${name}.json`);
  mkdirSync(join(workDir, 'reports'), { recursive: true });
  rmSync(file, { force: true });
  return file;
};

/** `figures`: which lines of the output are printed although everything passed. */
const vitest = (name, config, figures) => async () => {
  const file = report(name);
  const args = [
    'run',
    '--config',
    config,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ];
  const done = await runCommand(bin('vitest'), args);
  const lines = figures === undefined ? [] : stripVTControlCharacters(done.output).split('\n');
  return { ...countVitest(file, done), figures: lines.filter((line) => figures?.test(line)) };
};

/** What the kill matrix tried and found, by test file. */
const KILLS = /^(\d+ random agents|kill points \d|predicted against executed:|runs \d|refusals:)/;

/** What the stage counts; one that breaks off counts as failed, so that the last line is always printed. */
async function counted(run) {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PrepareError) return one(false, `${error.output}\n${error.message}`);
    return one(false, error instanceof Error ? error.stack : String(error));
  }
}

const build = () =>
  counted(async () => {
    await prepare({ say: () => {} });
    return one(true);
  });

async function journeys() {
  const built = await build();
  if (built.failed > 0) return one(false, 'Not run: there is no build.');
  const chromium = await findChromium(console.log);
  if (chromium.path === undefined) return one(false, chromium.advice);
  const file = report('journeys');
  const done = await runCommand(
    bin('playwright'),
    ['test', '--config=e2e/playwright.config.ts', '--reporter=list,json'],
    {
      env: { RERAIL_CHROMIUM: chromium.path, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
    },
  );
  return countPlaywright(file, done);
}

/* `npm run check` is the first part: what needs no build and no browser. The static checks run in two lanes, one a core. */
const STATIC = [
  [{ name: 'types', run: program(bin('tsc'), ['--noEmit']) }],
  [
    { name: 'format and lint', run: program(bin('biome'), ['ci', '--diagnostic-level=warn', '.']) },
    {
      name: 'boundaries',
      run: program(bin('depcruise'), [
        '--config',
        '.dependency-cruiser.cjs',
        'app',
        'components',
        'lib',
        'e2e',
      ]),
    },
    { name: 'dead code', run: program(bin('knip'), ['--no-progress']) },
    {
      name: 'migrations against the schema',
      run: async () => countLines(await runCommand(process.execPath, ['prisma/check-migrations.mjs'])),
    },
  ],
];
const UNIT = { name: 'unit, property and contract tests', run: vitest('unit', 'vitest.config.ts') };
const REST = [
  { name: 'build', run: build },
  { name: 'kill matrix', run: vitest('kill', 'lib/testing/chaos/vitest.config.ts', KILLS) },
  { name: 'journeys in Chromium', run: journeys },
];
const FRESH_CLONE = { name: 'fresh clone', run: tryFreshClone };

/** `npm test` (`--check`: without build, kill matrix and browser; `--fresh-clone`: also from an empty folder). */
export async function runStages(args) {
  const prepared = await counted(async () => {
    await prepare({ builds: [] });
    return one(true);
  });
  if (prepared.failed > 0) {
    console.error(prepared.detail);
    conclude([prepared]);
    return;
  }
  const stages = [
    UNIT,
    ...(args.includes('--check') ? [] : REST),
    ...(args.includes('--fresh-clone') ? [FRESH_CLONE] : []),
  ];
  const checked = await Promise.all(STATIC.map(runInOrder));
  conclude([...checked.flat(), ...(await runInOrder(stages))]);
}

async function runInOrder(stages) {
  const counts = [];
  for (const stage of stages) counts.push(await runStage(stage));
  return counts;
}

/** The last line of the output. */
function conclude(counts) {
  const { passed, failed, skipped } = sum(counts);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** Runs `{ name, run }` and prints what it counted. */
export async function runStage(stage) {
  const began = performance.now();
  console.log(`— ${stage.name}`);
  const counts = await counted(stage.run);
  if (counts.detail && (counts.failed > 0 || counts.skipped > 0)) console.log(counts.detail.trimEnd());
  for (const line of counts.figures ?? []) console.log(`  ${line}`);
  const { passed, failed, skipped } = counts;
  console.log(
    `  ${stage.name}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds(performance.now() - began)}`,
  );
  return counts;
}
