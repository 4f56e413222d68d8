import { terminalText } from '../contract/terminal-text.ts';

/** The output for the person at the terminal: few lines, and a sign of life during slow steps. */
export interface Terminal {
  say: (line: string) => void;
  /**
   * Does the work of a step. If it takes longer than 2 s, prints the line, and then from time to time how
   * long it has taken, with what `howFar` returns.
   */
  step: <T>(line: string, work: () => T | Promise<T>, howFar?: () => string) => Promise<T>;
}

const quietMs = 2_000;
const everyMs = 5_000;

/** @param print gets no text of others that would control the terminal, such as the error of a gateway in a log */
export const createTerminal = (print = (line: string) => console.log(line)): Terminal => {
  const say = (line: string) => print(terminalText(line));
  return {
    say,
    async step(line, work, howFar) {
      const startedAt = Date.now();
      const [name] = line.split(':', 1);
      const first = setTimeout(() => say(line), quietMs);
      const timer = setInterval(() => {
        const parts = [formatMinutes((Date.now() - startedAt) / 1000), howFar?.()].filter(Boolean);
        say(`${name} … ${parts.join(', ')}`);
      }, everyMs);
      try {
        return await work();
      } finally {
        clearTimeout(first);
        clearInterval(timer);
      }
    },
  };
};

/** 75 seconds are 1:15. */
export const formatMinutes = (seconds: number): string => {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
};
