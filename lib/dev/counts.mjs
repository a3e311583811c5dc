import { readFileSync } from 'node:fs';

/* Outcomes of a stage: `{ passed, failed, skipped, detail? }`; `detail` is printed where something failed or was skipped. */

export const one = (passed, detail) => ({
  passed: passed ? 1 : 0,
  failed: passed ? 0 : 1,
  skipped: 0,
  detail,
});

/** Of a program whose output has a line for each thing looked at, saying `skipped` and why where it did not. */
export function countLines({ code, output }) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const skipped = lines.filter((line) => line.includes(' skipped '));
  return {
    passed: code === 0 ? lines.length - skipped.length : 0,
    failed: code === 0 ? 0 : 1,
    skipped: skipped.length,
    detail: code === 0 ? skipped.join('\n') : output,
  };
}

const readReport = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
};

const NO_REPORT = (output) => ({ passed: 0, failed: 1, skipped: 0, detail: output });

/** What a suite that skips itself says of it: the name, and what would let it run. */
const SKIPPED = /^skipped: .+ \(.+\)$/;

/** Counts of vitest's JSON report. A file that could not be loaded has no tests and counts as one failure. */
export function countVitest(file, { code, output }) {
  const report = readReport(file);
  if (report === undefined) return NO_REPORT(output);
  const broken = report.testResults.filter(
    (suite) => suite.status === 'failed' && suite.assertionResults.every((test) => test.status !== 'failed'),
  );
  const skippedNames = report.testResults
    .flatMap((suite) => suite.assertionResults)
    .filter((test) => test.status === 'skipped' || test.status === 'pending' || test.status === 'todo')
    .map((test) => `skipped: ${test.fullName}`);
  const why = new Set(output.split('\n').filter((line) => SKIPPED.test(line)));
  const failed = report.numFailedTests + broken.length;
  return {
    passed: report.numPassedTests,
    // An unhandled error fails the run although every test passed.
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
    detail: [...(code === 0 ? [] : [output]), ...skippedNames, ...why].join('\n'),
  };
}

/** Suites of a Playwright report, those inside of others too. */
const suitesOf = (suites = []) => suites.flatMap((suite) => [suite, ...suitesOf(suite.suites)]);

/** A line for each reason that tests of a project were skipped for, and one for each test that gives none. */
function skippedLines({ suites }) {
  const lines = new Map();
  for (const { title, tests } of suitesOf(suites).flatMap(({ specs = [] }) => specs))
    for (const { status, projectName, annotations } of tests) {
      if (status !== 'skipped') continue;
      const why = annotations.find(({ type }) => type === 'skip')?.description;
      const what = why === undefined ? `${projectName}, ${title}` : `${projectName} (${why})`;
      lines.set(what, (lines.get(what) ?? 0) + 1);
    }
  return [...lines].map(([what, times]) => `skipped: ${times === 1 ? '' : `${times} tests of `}${what}`);
}

/** Counts of Playwright's JSON report; a test that passed only when tried again has passed and is named. */
export function countPlaywright(file, { code, output }) {
  const report = readReport(file);
  if (report === undefined) return NO_REPORT(output);
  const { expected, unexpected, flaky, skipped } = report.stats;
  const failed = unexpected + report.errors.length;
  return {
    passed: expected + flaky,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped,
    detail: [...(code === 0 && flaky === 0 ? [] : [output]), ...skippedLines(report)].join('\n'),
  };
}

export const sum = (counts) =>
  counts.reduce(
    (total, next) => ({
      passed: total.passed + next.passed,
      failed: total.failed + next.failed,
      skipped: total.skipped + next.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
