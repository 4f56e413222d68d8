// Plain JavaScript: it runs before the first TypeScript file, on a Node that may not read one.
const needed = 24;

/** @returns why nothing can be started here */
const problem = () => {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < needed)
    return `Node ${node} is too old, this needs ${needed} or newer: start it through npm (npm ci, then npm start), which brings its own, or install Node ${needed}.`;
  try {
    import.meta.resolve('zod');
    return undefined;
  } catch {
    return 'The packages that this needs are not installed: run npm ci first.';
  }
};

const found = problem();
if (found) {
  console.error(found);
  process.exit(1);
}
