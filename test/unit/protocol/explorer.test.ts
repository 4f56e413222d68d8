import { describe, expect, it } from 'vitest';
import { explore, toText } from '../../../protocol/explorer.ts';
import type { Part } from '../../../protocol/part.ts';

const noRules = { invariants: {}, goals: {} };

interface Counters {
  x: number;
  y: number;
}

/** Two counters that go round: `size` squared states, and two edges from each. */
const counters = (size: number, rules: Partial<Part<Counters>> = {}): Part<Counters> => ({
  name: 'counters',
  starts: [{ x: 0, y: 0 }],
  actors: {
    x: function* ({ x }) {
      yield ['x grows', { x: (x + 1) % size }];
    },
    y: function* ({ y }) {
      yield ['y grows', { y: (y + 1) % size }];
    },
  },
  ...noRules,
  ...rules,
});

interface River {
  farmer: number;
  wolf: number;
  goat: number;
  cabbage: number;
}

/** The farmer's puzzle, without the eating: every passenger is on either bank. */
const river = (invariants: Part<River>['invariants']): Part<River> => ({
  name: 'river',
  starts: [{ farmer: 0, wolf: 0, goat: 0, cabbage: 0 }],
  actors: {
    farmer: function* (s) {
      const isEaten = (t: River) =>
        t.goat !== t.farmer && (t.wolf === t.goat || t.cabbage === t.goat);
      const farmer = 1 - s.farmer;
      for (const cargo of [{}, { wolf: farmer }, { goat: farmer }, { cabbage: farmer }]) {
        const [name = 'nothing'] = Object.keys(cargo);
        const isHere = name === 'nothing' || s[name as keyof River] === s.farmer;
        if (isHere && !isEaten({ ...s, farmer, ...cargo }))
          yield [`takes ${name}`, { farmer, ...cargo }];
      }
    },
  },
  ...noRules,
  invariants,
});

describe('explore', () => {
  it('finds every state and every edge of a system of known size', () => {
    const { states, edges, counterexample } = explore(counters(7));
    expect({ states: states.length, edges: edges.length }).toEqual({ states: 49, edges: 98 });
    expect(counterexample).toBeUndefined();
  });

  it('finds the ten states of the river and its shortest solution of seven trips', () => {
    expect(explore(river({})).states).toHaveLength(10);
    const across = (s: River) => s.farmer + s.wolf + s.goat + s.cabbage === 4;
    const { counterexample } = explore(river({ 'not all are across': (s) => !across(s) }));
    expect(counterexample?.trace.map(({ step }) => step).slice(1)).toEqual([
      'takes goat',
      'takes nothing',
      expect.stringMatching(/^takes (wolf|cabbage)$/),
      'takes goat',
      expect.stringMatching(/^takes (wolf|cabbage)$/),
      'takes nothing',
      'takes goat',
    ]);
  });

  it('prints a counterexample as numbered steps, each with what it changed', () => {
    const { counterexample } = explore(
      counters(7, { invariants: { 'x stays small': (s) => s.x < 2 } }),
    );
    expect(counterexample && toText(counterexample).split('\n')).toEqual([
      'Broken: x stays small',
      '   0  start',
      '   1  x grows  x 1',
      '   2  x grows  x 2',
    ]);
  });

  it('names the start of a counterexample where there are several', () => {
    const part = counters(3, {
      starts: [
        { x: 0, y: 0 },
        { x: 2, y: 0 },
      ],
      invariants: { 'x is never 2 with y 1': (s) => s.x !== 2 || s.y !== 1 },
    });
    expect(explore(part).counterexample?.trace).toEqual([
      { step: 'start', changed: { x: 2 } },
      { step: 'y grows', changed: { y: 1 } },
    ]);
  });

  it('finds a loop from which a goal is out of reach', () => {
    const loop: Part<{ at: string }> = {
      name: 'loop',
      starts: [{ at: 'start' }],
      actors: {
        walker: function* ({ at }) {
          if (at === 'start') yield ['goes home', { at: 'home' }];
          if (at === 'start') yield ['goes astray', { at: 'left' }];
          if (at === 'left') yield ['turns right', { at: 'right' }];
          if (at === 'right') yield ['turns left', { at: 'left' }];
        },
      },
      ...noRules,
      goals: { 'comes home': ({ at }) => at === 'home' },
    };
    const { counterexample } = explore(loop);
    expect(counterexample?.broken).toBe('comes home');
    expect(counterexample?.trace.map(({ step }) => step)).toEqual(['start', 'goes astray']);
  });

  it('waits for nobody who may stay away', () => {
    const waiting = (step: string): Part<{ paid: boolean }> => ({
      name: 'waiting',
      starts: [{ paid: false }],
      actors: {
        somebody: function* ({ paid }) {
          if (!paid) yield [step, { paid: true }];
        },
      },
      ...noRules,
      goals: { 'is paid': ({ paid }) => paid },
    });
    expect(explore(waiting('the gateway captures')).counterexample).toBeUndefined();
    expect(explore(waiting('payer pays')).counterexample?.broken).toBe('is paid');
  });

  it('refuses a step that changes a variable which no start has', () => {
    const part = counters(2, {
      actors: {
        z: function* () {
          yield ['z grows', { z: 1 } as Partial<Counters>];
        },
      },
    });
    expect(() => explore(part)).toThrow('No variable is named z');
  });
});
