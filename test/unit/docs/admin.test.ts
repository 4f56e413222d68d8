import { expect, it } from 'vitest';
import { commands } from '../../../admin/cli/program.ts';
import { runLine } from '../../support/service/admin-line.ts';
import { readCompose } from '../../support/checks/compose.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

const pages = projectFiles().filter((path) => /^(README|docs\/.+)\.md$/.test(path));
const { services } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });

/** The commands as an operator types them: without redirections, with a value for each placeholder. */
const lines = pages.flatMap((page) =>
  [
    ...readProjectFile(page).matchAll(
      /(?:npm run .*?admin\s--|compose run --rm (?:-T )?admin)\s+([^`\n|]+)/g,
    ),
  ]
    .map(([, line = '']) => ({
      page,
      line: line
        .replace(/ [<>] \S+$/, '')
        .replace(/<time of [^>]+>/, '2026-11-20T10:41:37Z')
        .trim(),
    }))
    .filter(({ line }) => line !== '…'),
);

/** Splits a line like a shell. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);

it('the admin understands every command that the pages contain', async () => {
  expect(lines.length).toBeGreaterThan(20);
  const connect = () => {
    throw new Error('It would connect now');
  };
  const notes = await Promise.all(
    lines.map(async ({ page, line }) => {
      const { code, notes: printed } = await runLine(connect, wordsOf(line), { answer: 'yes' });
      // Some pages name a command without its arguments.
      const isUnderstood = code !== 2 || printed.includes('missing required argument');
      return isUnderstood ? [] : [`${page}: ${line}: ${printed}`];
    }),
  );
  expect(notes.flat()).toEqual([]);
});

/** A person decides about these: their pages leave the question. */
const ofPersons = /^(?:refunds (?:create|confirm|cancel REFUND|limit|settle)|tokens confirm)/;

const mayAsk = new Set(
  commands
    .flatMap((each) =>
      'commands' in each
        ? each.commands.map((one) => ({ ...one, usage: `${each.name} ${one.usage}` }))
        : [each],
    )
    .filter((each) => each.describeChange ?? each.findConsequences)
    .map(({ usage }) => usage.replace(/ [<[].*/, '')),
);

it('the commands on the pages for operators run without a terminal', () => {
  const asking = lines.filter(
    ({ page, line }) =>
      page.startsWith('docs/operating/') &&
      // Without arguments or with this option it is named only. Reconciling changes nothing unless it heals.
      /^(?:reconcile --heal|purge|\w+ \w[\w-]* (?!--help))/.test(line) &&
      mayAsk.has(/^(?:reconcile|purge|\w+ [\w-]+)/.exec(line)?.[0] ?? '') &&
      !ofPersons.test(line),
  );
  expect(asking.length).toBeGreaterThan(10);
  expect(asking.filter(({ line }) => !line.includes(' --yes'))).toEqual([]);
});

it('the Compose commands of the runbook name services and ports of docker-compose.yml', () => {
  const runbook = readProjectFile('docs/operating/runbook.md');
  const [table = ''] = /^\| On these pages .*\n(\|.*\n)+/m.exec(runbook) ?? [];
  const named = [
    ...table.matchAll(/docker compose (?:run --rm|logs --no-log-prefix|exec) ([\w -]+)/g),
  ];
  const known = named.flatMap(([, words = '']) =>
    words
      .replace(/ node -e .*/, '')
      .trim()
      .split(' '),
  );
  expect(known).toEqual([
    ...['admin', 'api', 'worker-payments', 'worker-webhooks', 'api'],
    'temporal-cli',
  ]);
  for (const name of known) expect(services).toHaveProperty(name);
  expect(table).toContain(`:${services['api']?.environment?.['METRICS_PORT']}/readyz`);
  expect(table).toContain(`at ${services['worker-payments']?.environment?.['METRICS_PORT']}`);
});
