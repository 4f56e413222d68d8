/** The output for the person at the terminal: few lines, and a sign of life during slow steps. */
export interface Terminal {
  say: (line: string) => void;
  /** Prints the line, then from time to time how long it has taken, until the returned function is called. */
  progress: (line: string) => () => void;
}

const everyMs = 15_000;

export const createTerminal = (say = (line: string) => console.log(line)): Terminal => ({
  say,
  progress(line) {
    const startedAt = Date.now();
    const [step] = line.split(':', 1);
    say(line);
    const timer = setInterval(() => say(`${step} … ${formatElapsed(startedAt)}`), everyMs);
    return () => clearInterval(timer);
  },
});

const formatElapsed = (startedAt: number): string => {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};
