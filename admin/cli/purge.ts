import { type CommandSpec, count, option, reasonOption } from './commands.ts';
import { facts } from './output.ts';

export const purgeCommand: CommandSpec = {
  usage: 'purge',
  summary: 'delete data that is older than the retention policy allows; run it daily',
  examples: ['purge --yes', 'purge --limit 10000 --yes --json'],
  options: [
    option('--limit <count>', 'maximum of payments, and of response bodies')
      .argParser(count(10_000_000))
      .default(1_000_000),
    reasonOption(),
  ],
  describeChange: () =>
    'Response bodies of receivers older than KEEP_ATTEMPT_BODIES_DAYS are deleted, and payments older than KEEP_PAYMENTS_DAYS if that is set.',
  run: async ({ options, reason, operations }) => {
    const limit = Number(options.limit);
    const purged = await operations.purge(limit, reason);
    const { attemptBodies, payments } = purged;
    // A failure: a daily job that reaches its limit falls further behind every day.
    const failed = Math.max(attemptBodies, payments) >= limit;
    const more = failed ? '\nThere may be more: --limit was reached.' : '';
    return {
      text: facts({ 'attempt bodies': attemptBodies, payments }) + more,
      json: purged,
      failed,
    };
  },
};
