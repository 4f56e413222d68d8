import type { Command } from 'commander';
import { hideQuery } from '../operations/webhook-url.ts';
import type { CliContext } from './commands.ts';
import { command, group, reason, textOf } from './commands.ts';
import { facts } from './output.ts';

const testCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'test <application>',
      summary: 'send a signed sample event, marked as a test, to the webhook URL',
      examples: ['webhook test shop'],
      options: [reason()],
    },
    async ({ args: [application = ''], options, operations }) => {
      const { url, sent, ...result } = await operations.testWebhook(
        application,
        textOf(options.reason),
      );
      const text = facts({
        url: hideQuery(url),
        sent,
        result: result.errorClass ?? 'accepted',
        status: result.responseStatus,
        'duration (ms)': result.durationMs,
        response: result.responseBody,
        'response truncated': result.responseTruncated,
      });
      return {
        text,
        json: { url: hideQuery(url), event: sent === null ? null : JSON.parse(sent), ...result },
        failed: result.errorClass !== null,
      };
    },
  );

export const webhookCommands = (context: CliContext): Command =>
  group(
    {
      name: 'webhook',
      summary: 'test the webhook of an application',
      examples: ['webhook test shop'],
    },
    [testCommand(context)],
  );
