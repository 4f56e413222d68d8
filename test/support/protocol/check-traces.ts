import { beforeAll, describe, expect, it } from 'vitest';
import type { Part } from '../../../protocol/part.ts';
import { drive, type Driver } from './driver.ts';
import { type Choice, chooseTraces, type Trace } from './traces.ts';

interface Checked<S, F> extends Pick<Choice<S>, 'mayStep'> {
  createDriver: (start: S, fault?: F) => Promise<Driver<S>>;
  /** Faults in the code, each of which some trace must find. */
  faults?: Readonly<Record<string, F>>;
}

/** Each has a payment of its own, so they do not meet. */
const atOnce = 8;
/** A machine with other work takes so long at most. */
const timeoutMs = 600_000;

/** Carries out traces of a part on the code, and again with each fault. */
export const checkTraces = <S extends object, F>(
  part: Part<S>,
  { mayStep = () => true, createDriver, faults = {} }: Checked<S, F>,
): void => {
  describe(`traces of ${part.name}`, () => {
    let traces: Trace<S>[];
    let uncovered: string[];

    beforeAll(() => {
      const random = { count: 25, length: 30, seed: 38 };
      ({ traces, uncovered } = chooseTraces(part, { mayStep, short: 2, longest: 40, random }));
    });

    const findDifferences = async (most: number, fault?: F): Promise<string[]> => {
      const differences: string[] = [];
      const remaining = traces.values();
      const carryOut = async () => {
        for (const trace of remaining) {
          const [first] = trace;
          if (!first || differences.length >= most) return;
          const difference = await drive(trace, await createDriver(first.before, fault));
          if (difference !== undefined) differences.push(difference);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, carryOut));
      return differences;
    };

    it('has a trace to every step from every value of every variable', () => {
      expect(uncovered).toEqual([]);
    });

    it(
      'carries out the traces without a difference',
      async () => {
        const began = performance.now();
        const differences = await findDifferences(5);
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        const size = `${traces.length} traces, ${traces.flat().length} steps`;
        console.log(`${part.name}: ${size} on the code, ${seconds} s`);
        expect(differences).toEqual([]);
      },
      timeoutMs,
    );

    it.each(Object.entries(faults))(
      'finds a fault in the code: %s',
      async (name, fault) => {
        const [difference] = await findDifferences(1, fault);
        expect(difference).toBeDefined();
        console.log(`${part.name}, ${name}: ${difference}`);
      },
      timeoutMs,
    );
  });
};
