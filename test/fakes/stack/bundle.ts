import { writeFileSync } from 'node:fs';

const [, , path = ''] = process.argv;
writeFileSync(path, '// A fake of the workflow bundle.\n');
process.exit(0);
