import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { formatMinutes } from '../../../stack/terminal.ts';

/** A log is read later, a terminal now. */
const everyMs = process.stdout.isTTY ? 10_000 : 30_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Says from time to time how far the run is, and why the tests of a file were skipped. */
export default class Progress implements Reporter {
  #timer: NodeJS.Timeout | undefined;
  #done = 0;
  #failed = 0;

  onTestRunStart({ length: all }: readonly TestSpecification[]) {
    const startedAt = performance.now();
    [this.#done, this.#failed] = [0, 0];
    this.#timer = setInterval(() => {
      const time = formatMinutes((performance.now() - startedAt) / 1000);
      say(`${this.#done} of ${all} files, ${this.#failed} failed, ${time}`);
    }, everyMs);
  }

  onTestModuleEnd(module: TestModule) {
    this.#done += 1;
    if (module.state() === 'failed') this.#failed += 1;
    // Vitest prints what a file says only where it fails, and its types hide where it keeps that.
    const { task } = module as unknown as { task: { logs?: { content: string }[] } };
    if (module.state() === 'skipped')
      for (const { content } of task.logs ?? []) say(content.trimEnd());
  }

  onTestRunEnd() {
    clearInterval(this.#timer);
  }
}
