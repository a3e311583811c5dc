import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { countLines, countPlaywright, countVitest, sum } from './counts.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rerail-counts-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function report(content) {
  files += 1;
  const file = join(folder, `${files}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

const vitestReport = (suites) => ({
  numPassedTests: suites.flatMap((suite) => suite.assertionResults).filter((test) => test.status === 'passed')
    .length,
  numFailedTests: suites.flatMap((suite) => suite.assertionResults).filter((test) => test.status === 'failed')
    .length,
  numPendingTests: suites
    .flatMap((suite) => suite.assertionResults)
    .filter((test) => test.status === 'skipped').length,
  numTodoTests: 0,
  testResults: suites,
});
const suite = (status, ...statuses) => ({
  status,
  assertionResults: statuses.map((one, n) => ({ status: one, fullName: `test ${n}` })),
});

describe('counting a runner', () => {
  it('counts a file that could not be loaded as a failure', () => {
    const file = report(vitestReport([suite('passed', 'passed'), suite('failed')]));
    expect(countVitest(file, { code: 1, output: 'boom' })).toMatchObject({ passed: 1, failed: 1 });
  });

  it('does not count a failed test twice for its file', () => {
    const file = report(vitestReport([suite('failed', 'passed', 'failed')]));
    expect(countVitest(file, { code: 1, output: '' })).toMatchObject({ passed: 1, failed: 1 });
  });

  it('names what was skipped', () => {
    const file = report(vitestReport([suite('passed', 'passed', 'skipped')]));
    expect(countVitest(file, { code: 0, output: '' })).toMatchObject({
      skipped: 1,
      detail: 'skipped: test 1',
    });
  });

  it('says why a suite was skipped, once', () => {
    const file = report(vitestReport([suite('passed', 'passed', 'skipped')]));
    const line = 'skipped: stores (PostgreSQL) (set X to run it)';
    const output = `stderr | a file\n${line}\n\n${line}\n`;
    expect(countVitest(file, { code: 0, output }).detail).toBe(`skipped: test 1\n${line}`);
  });

  it('counts the lines of a check, and those that it skipped with their reason', () => {
    const output = 'migrations: sqlite equal the models\nmigrations: postgres skipped (set X)\n';
    expect(countLines({ code: 0, output })).toEqual({
      passed: 1,
      failed: 0,
      skipped: 1,
      detail: 'migrations: postgres skipped (set X)',
    });
    expect(countLines({ code: 1, output })).toMatchObject({ passed: 0, failed: 1, detail: output });
  });

  it('takes a runner that ended badly although every test passed as failed', () => {
    const file = report(vitestReport([suite('passed', 'passed')]));
    expect(countVitest(file, { code: 1, output: 'unhandled' })).toMatchObject({ passed: 1, failed: 1 });
    const journeys = report({ stats: { expected: 2, unexpected: 0, flaky: 0, skipped: 0 }, errors: [] });
    expect(countPlaywright(journeys, { code: 1, output: '' })).toMatchObject({ passed: 2, failed: 1 });
  });

  it('says which journeys and pictures were skipped, and why, a line for each reason', () => {
    const skipped = (title, ...annotations) => ({
      title,
      tests: [{ status: 'skipped', projectName: 'pictures', annotations }],
    });
    const why = { type: 'skip', description: 'drawn otherwise' };
    const file = report({
      stats: { expected: 1, unexpected: 0, flaky: 0, skipped: 3 },
      errors: [],
      suites: [
        {
          specs: [skipped('runs', why), { title: 'run', tests: [{ status: 'expected', annotations: [] }] }],
          suites: [{ specs: [skipped('plan', why), skipped('of nobody')] }],
        },
      ],
    });
    expect(countPlaywright(file, { code: 0, output: 'all of it' })).toEqual({
      passed: 1,
      failed: 0,
      skipped: 3,
      detail: 'skipped: 2 tests of pictures (drawn otherwise)\nskipped: pictures, of nobody',
    });
  });

  it('takes a runner without a report as failed', () => {
    expect(countVitest(join(folder, 'none.json'), { code: 1, output: 'no' })).toMatchObject({
      failed: 1,
      detail: 'no',
    });
  });

  it('sums over runners', () => {
    const counts = [
      { passed: 2, failed: 0, skipped: 1 },
      { passed: 3, failed: 1, skipped: 0 },
    ];
    expect(sum(counts)).toEqual({ passed: 5, failed: 1, skipped: 1 });
  });
});
