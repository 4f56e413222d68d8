/** What the person at the terminal sees: few lines, and a sign of life while something is slow. */
export interface Terminal {
  say: (line: string) => void;
  /** Shows the line with the time that has gone by until the returned function is called. */
  progress: (line: string) => () => void;
}

const everyMs = { screen: 1000, file: 15_000 };
const clearLine = '\r\u001b[K';

export const createTerminal = (output: NodeJS.WriteStream = process.stdout): Terminal => {
  const steps = new Set<{ name: string; startedAt: number }>();
  const describe = () =>
    [...steps].map(({ name, startedAt }) => `${name} … ${elapsedSince(startedAt)}`).join(', ');
  // On a screen the last line is rewritten, and what is said goes above it; a file only grows.
  const draw = () => {
    if (output.isTTY) output.write(`${clearLine}${describe().slice(0, output.columns - 1)}`);
    else output.write(`${describe()}\n`);
  };
  const say = (line: string) => {
    output.write(`${output.isTTY && steps.size > 0 ? clearLine : ''}${line}\n`);
    if (output.isTTY && steps.size > 0) draw();
  };
  return {
    say,
    progress(line) {
      const [name = line] = line.split(':', 1);
      say(line);
      const step = { name, startedAt: Date.now() };
      steps.add(step);
      const timer = setInterval(draw, output.isTTY ? everyMs.screen : everyMs.file);
      return () => {
        clearInterval(timer);
        steps.delete(step);
        if (output.isTTY) draw();
      };
    },
  };
};

const elapsedSince = (startedAt: number): string => {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};
