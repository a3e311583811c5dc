import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Played, play } from '@/lib/testing/sdk-play';
import { agentSpec } from '@/lib/testing/sdk-random-agents';

const agents = Number(process.env['SDK_AGENTS'] ?? 8);
const seed = Number(process.env['SDK_SEED'] ?? 1);

const modes = ['resume', 'rewind', 'fork', 'replay'] as const;

describe('random agents, dropped at random points', () => {
  test(
    'S02 S05 S20 each external effect is executed once at most and exactly as recorded, every run completes, and its replay touches nothing',
    async () => {
      let runs = 0;
      let drops = 0;
      const compared = { resume: 0, rewind: 0, fork: 0, replay: 0 };
      let misses = 0;
      const note = ({ predicted, drops: dropped }: Played) => {
        runs++;
        drops += dropped;
        for (const mode of modes) compared[mode] += predicted.compared[mode];
        misses += predicted.misses.length;
      };
      await fc.assert(
        fc.asyncProperty(agentSpec, fc.integer({ min: 1, max: 1_000_000 }), async (spec, s) => {
          const whole = await play(spec, s, [], s % 2 === 0);
          note(whole);
          expect(whole.bad.slice(0, 1)).toEqual([]);
          const step = Math.max(1, Math.floor(whole.points / 12));
          for (let at = 1; at <= whole.points; at += step) {
            const second = {
              at: 1 + ((at * 31) % whole.points),
              kind: at % 3 === 0 ? 'crash' : 'zombie',
            } as const;
            const faults =
              at % 2 === 0
                ? [{ at }]
                : [
                    { at, kind: at % 5 === 0 ? 'zombie' : 'crash' } as const,
                    second,
                    { at: 1 + ((at * 17) % whole.points) },
                  ];
            const crashed = await play(spec, s, faults, s % 2 === 0);
            note(crashed);
            expect({ faults, bad: crashed.bad.slice(0, 1) }).toEqual({ faults, bad: [] });
          }
        }),
        { numRuns: agents, seed, endOnFailure: true },
      );
      process.stdout.write(
        `${agents} random agents (seed ${seed}): ${runs} runs, ${drops} workers dropped, planned steps compared with what ran: ${JSON.stringify(compared)}, ${misses} misses\n`,
      );
      expect(runs).toBeGreaterThan(agents);
      expect(misses).toBe(0);
      for (const mode of modes) expect(compared[mode], mode).toBeGreaterThan(0);
    },
    Math.max(300_000, agents * 15_000),
  );
});
