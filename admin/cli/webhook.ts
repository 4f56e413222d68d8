import { hideQuery } from '../operations/webhook-url.ts';
import { type CommandSpec, type CommandGroup, reasonOption } from './commands.ts';
import { facts } from './output.ts';

const testCommand: CommandSpec = {
  usage: 'test <application>',
  summary: 'send a signed sample event, marked as a test, to the webhook URL',
  examples: ['webhook test shop'],
  options: [reasonOption()],
  run: async ({ args: [application = ''], reason, operations }) => {
    const { url, sent, ...result } = await operations.testWebhook(application, reason);
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
};

export const webhookCommands: CommandGroup = {
  name: 'webhook',
  summary: 'test the webhook of an application',
  examples: ['webhook test shop'],
  commands: [testCommand],
};
