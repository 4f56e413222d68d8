import { writeFileSync } from 'node:fs';

const [, , path = ''] = process.argv;
writeFileSync(path, '// Stands in for the workflow bundle.\n');
process.exit(0);
