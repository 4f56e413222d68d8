/** What the person at the terminal sees: few lines, and a sign of life while something is slow. */
export interface Terminal {
  say: (line: string) => void;
  /** Shows the line with the time that has gone by until the returned function is called. */
  progress: (line: string) => () => void;
}

const everyMs = { terminal: 1000, file: 15_000 };

export const createTerminal = (output: NodeJS.WriteStream = process.stdout): Terminal => {
  // One line at most is being rewritten; what else is said goes above it.
  let live = '';
  const draw = () => {
    if (output.isTTY) output.write(`\r\u001b[K${live.slice(0, output.columns - 1)}`);
  };
  const say = (line: string) => {
    output.write(`${output.isTTY && live ? '\r\u001b[K' : ''}${line}\n`);
    if (live) draw();
  };
  return {
    say,
    progress(line) {
      const startedAt = Date.now();
      say(line);
      const shown = line.split(/[:(.]/, 1)[0] ?? line;
      const tick = () => {
        live = `  ${shown} … ${elapsed(Date.now() - startedAt)}`;
        if (output.isTTY) draw();
        else output.write(`${live}\n`);
      };
      const timer = setInterval(tick, output.isTTY ? everyMs.terminal : everyMs.file);
      return () => {
        clearInterval(timer);
        if (output.isTTY && live) output.write('\r\u001b[K');
        live = '';
      };
    },
  };
};

const elapsed = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};
