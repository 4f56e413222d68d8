// Plain JavaScript: it runs before the first TypeScript file, on a Node that may not read one.
const neededMajor = 24;

/** Returns why nothing can be started here. */
const findProblem = () => {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < neededMajor)
    return `Node ${node} is too old, this needs ${neededMajor} or newer: on Linux run npm ci, which brings its own; elsewhere install Node ${neededMajor}.`;
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
