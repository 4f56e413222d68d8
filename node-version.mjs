// Plain JavaScript: it runs before the first TypeScript file, on a Node that may not read one. Every process
// imports it first.
import './process-one.mjs';

/**
 * The first version of each major that is safe. Older ones drop header lines beyond a lowered limit, so a
 * client can hide the address that a proxy appends (CVE-2026-58044). Node 25 was never corrected.
 */
const firstSafe = { 24: [24, 18, 1], 26: [26, 5, 1] };
const firstMajorWithoutDefect = 27;

/** @param {string} version */
const isSafe = (version) => {
  const [major = 0, minor = 0, patch = 0] = version
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  const first = firstSafe[major];
  if (!first) return major >= firstMajorWithoutDefect;
  return minor > first[1] || (minor === first[1] && patch >= first[2]);
};

/** Returns why nothing can be started here. */
const findProblem = () => {
  const { node } = process.versions;
  if (!isSafe(node))
    return `Node ${node} is not safe. The first safe versions are 24.18.1, 26.5.1 and 27. On Linux run npm ci, which brings one; elsewhere install the newest Node 24.`;
  try {
    import.meta.resolve('zod');
    return undefined;
  } catch {
    return 'The packages that this needs are not installed: run npm ci first.';
  }
};

const problem = findProblem();
if (problem) {
  console.error(problem);
  process.exit(1);
}
