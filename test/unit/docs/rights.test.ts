import { expect, it } from 'vitest';
import { readProjectFile } from '../../support/checks/project-files.ts';

/** The columns that are secrets or lead to one. */
const secrets = [
  'gateways.credentials',
  'gateways.notification_secrets',
  'gateways.refund_credentials',
  'tokens.hash',
  'webhook_secrets.ciphertext',
];

/** `rights.txt` is what Postgres says: test/integration/journeys/roles.test.ts. */
const rights = readProjectFile('test/support/checks/rights.txt')
  .trim()
  .split('\n')
  .map((line) => {
    const [, role = '', table = '', kinds = '', columns = ''] =
      /^(\w+) (\w+) ([\w ]+): (.*)$/.exec(line) ?? [];
    return { role, table, kinds: kinds.split(' '), columns };
  });

const named = (names: readonly string[]) =>
  names.length === 0 ? 'nothing' : names.map((name) => `\`${name}\``).join(', ');

const sentenceOf = (wanted: string) => {
  const own = rights.filter(({ role }) => role === wanted);
  const reads = secrets.filter((secret) => {
    const [of, column = ''] = secret.split('.');
    const right = own.find(({ table, kinds }) => table === of && kinds.includes('select'));
    return right && (right.columns === 'all' || right.columns.split(' ').includes(column));
  });
  return `- **\`payments_${wanted}\`** reads ${named(reads)}.`;
};

it('the page says of each login which secrets it reads', () => {
  const page = readProjectFile('docs/security.md').replaceAll(/\s+/g, ' ');
  const roles = [...new Set(rights.map(({ role }) => role))];
  expect(roles).toHaveLength(6);
  for (const role of roles) expect(page).toContain(sentenceOf(role));
});
