import { readProjectFile } from '../checks/project-files.ts';

const readme = readProjectFile('client/README.md');

/** The blocks of one section of the client's README, in their order. */
export const blocksOf = (section: string) => {
  const [, text = ''] = readme.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));
};

const programOf = (section: string, has: string): string => {
  const found = blocksOf(section).find(
    ({ language, code }) => language !== 'sh' && code.includes(has),
  );
  if (!found) throw new Error(`"${section}" has no program with ${has}`);
  return found.code;
};

/** The programs of the README, by the names of their files. */
export const programs = {
  'receiver.js': programOf('From nothing to a verified webhook', 'createServer'),
  'first-payment.ts': programOf('A first payment', 'create('),
  'express.ts': programOf('Receive webhooks', "'express'"),
  'koa.ts': programOf('Receive webhooks', "'koa'"),
  'next.ts': programOf('Receive webhooks', 'POST'),
  'hono.ts': programOf('Receive webhooks', "'hono'"),
  'orders.ts': programOf('Two payments of one order', 'startPaying'),
  'inbox.ts': programOf('Exactly once', 'createInbox'),
};
