import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { checkedFile, checks, keptLineOf, lineOf, readChecked } from './checks.ts';
import { whyNoSpin } from './spin.ts';

/**
 * Has Spin check each model that has changed since, and writes what it found. With `--again` it checks every model,
 * writes nothing and fails at a line that differs. A name limits it to the checks whose names have it.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'boolean', default: false } },
});
const reason = whyNoSpin();
if (reason) throw new Error(`Spin does not check the protocol: ${reason}`);

const kept = readChecked();
const lines = new Map(checks.map((check) => [check.name, keptLineOf(check, kept)]));
const due = checks.filter(
  ({ name }) =>
    (values.again || lines.get(name) === undefined) &&
    positionals.every((wanted) => name.includes(wanted)),
);
console.log(`${due.length} of ${checks.length} checks; all take some minutes on two cores`);

const remaining = due.values();
const checkInTurn = async () => {
  for (const check of remaining) {
    const began = performance.now();
    try {
      const line = lineOf(check, await check.run());
      console.log(`${line}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
      if (values.again && line !== lines.get(check.name))
        throw new Error(`the kept line differs: ${lines.get(check.name) ?? 'none has its key'}`);
      lines.set(check.name, line);
      const found = [...lines.values()].filter((each) => each !== undefined);
      if (!values.again) writeFileSync(checkedFile, `${found.join('\n')}\n`);
    } catch (error) {
      console.error(`Failed: ${check.name}: ${String(error)}`);
      process.exitCode = 1;
    }
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, checkInTurn));
