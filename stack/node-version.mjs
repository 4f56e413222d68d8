// Plain JavaScript: it runs before the first TypeScript file, on a Node that may not read one.
const needed = 24;
const [major] = process.versions.node.split('.').map(Number);
if (major < needed) {
  console.error(
    `Node ${process.versions.node} is too old, this needs ${needed} or newer: start it through npm (npm ci, then npm start), which brings its own, or install Node ${needed}.`,
  );
  process.exit(1);
}
