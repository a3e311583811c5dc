import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '@/lib/testing/child-process';
import { compileProgram } from '@/lib/testing/compiled';

/** The cheapest row: the planner alone. */
const ROW = 'plan-10000-steps';

describe('npm run bench', { timeout: 120_000 }, () => {
  let program: Awaited<ReturnType<typeof compileProgram>>;
  beforeAll(async () => {
    program = await compileProgram('lib/testing/bench/main.ts');
  });
  afterAll(() => program.remove());

  /** With these arguments: how it ended, the lines of its standard output, and those of standard error. */
  async function bench(...args: readonly string[]) {
    const child = startChild(program.file, args);
    const { code } = await child.ended();
    return { code, lines: child.lines, errors: child.errors().trimEnd().split('\n') };
  }

  it('with --only measures what begins so and nothing else, one JSON object a line', async () => {
    const { code, lines, errors } = await bench('--only', ROW);
    expect({ code, errors }).toEqual({ code: 0, errors: [`Measuring ${ROW} …`] });
    const figures = lines.map((line) => JSON.parse(line) as object);
    expect(figures).toEqual([
      { name: `${ROW}.resume-p50`, value: expect.any(Number), unit: 'ms' },
      { name: `${ROW}.replay-p50`, value: expect.any(Number), unit: 'ms' },
    ]);
  });

  it.each([
    ['nothing', [], 'conversation-200, conversation-200-llm, recorded-step, '],
    [`${ROW}s`, [], 'conversation-200, conversation-200-llm, recorded-step, '],
    [`${ROW}.nothing`, [`Measuring ${ROW} …`], `${ROW}.resume-p50, ${ROW}.replay-p50`],
  ])('says that nothing begins with %s, with what there is, and ends badly', async (only, before, there) => {
    const { code, lines, errors } = await bench('--only', only);
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(errors).toEqual([
      ...before,
      expect.stringMatching(`^Nothing is named ${only}\\. There is: ${there}`),
    ]);
  });

  it.each([[['--only']], [['--only', '']], [['--olny', ROW]], [[ROW]], [['--only', ROW, 'upload']]])(
    'refuses %j and measures nothing',
    async (args) => {
      expect(await bench(...args)).toEqual({
        code: 1,
        lines: [],
        errors: ['Usage: npm run bench [-- --only PREFIX]'],
      });
    },
  );
});
