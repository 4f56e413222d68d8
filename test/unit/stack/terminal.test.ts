import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTerminal } from '../../../stack/terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const aTerminal = (screen: { isTTY: boolean; columns?: number }) => {
  let written = '';
  const output = { ...screen, write: (text: string) => (written += text) };
  const terminal = createTerminal(output as unknown as NodeJS.WriteStream);
  return { terminal, written: () => written };
};

it('a file gets a line with the time that has gone by, every 15 seconds until the step is done', () => {
  const { terminal, written } = aTerminal({ isTTY: false });
  const done = terminal.progress('Compiling: it is slow. This happens once.');
  vi.advanceTimersByTime(75_000);
  done();
  vi.advanceTimersByTime(60_000);
  expect(written()).toBe(
    ['Compiling: it is slow. This happens once.']
      .concat(['0:15', '0:30', '0:45', '1:00', '1:15'].map((time) => `Compiling … ${time}`))
      .map((line) => `${line}\n`)
      .join(''),
  );
});

it('on a screen the time stands in the last line, below what is said, and goes with the step', () => {
  const { terminal, written } = aTerminal({ isTTY: true, columns: 80 });
  const done = terminal.progress('Compiling: it is slow.');
  vi.advanceTimersByTime(2_000);
  terminal.say('api: a warning');
  done();
  const clear = '\r\u001B[K';
  expect(written()).toBe(
    [
      'Compiling: it is slow.\n',
      ...[`${clear}Compiling … 0:01`, `${clear}Compiling … 0:02`],
      ...[`${clear}api: a warning\n`, `${clear}Compiling … 0:02`],
      clear,
    ].join(''),
  );
});
