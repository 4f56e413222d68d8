import { byLabel } from '../operations/fact.ts';
import { noticeFacts } from '../operations/facts.ts';
import { type CommandGroup, type CommandSpec, reasonOption } from './commands.ts';
import { facts, table } from './output.ts';

const listCommand: CommandSpec = {
  usage: 'list <application>',
  summary: 'list the addresses that are told about the receiver of an application',
  examples: ['notices list shop'],
  run: async ({ args: [application = ''], operations }) => {
    const addresses = await operations.notices.list(application);
    const rows = addresses.map((address) => byLabel(noticeFacts(address)));
    return {
      text: table(rows, `${application} has no address for notices.`),
      json: addresses,
      ...(!operations.notices.sendsMail && {
        note: 'The service sends no mail: set SMTP_HOST and SMTP_FROM.',
      }),
    };
  },
};

const addCommand: CommandSpec = {
  usage: 'add <application> <address>',
  summary:
    'tell an address when the live receiver of an application accepts no webhooks; it gets one mail with a link to agree',
  examples: ['notices add shop ops@shop.example --reason "asked by its owner"'],
  options: [reasonOption()],
  run: async ({ args: [application = '', typed = ''], reason, operations }) => {
    const { address, asksAt } = await operations.notices.add(application, typed, reason);
    return {
      text: facts({ added: address, asked_at: asksAt }),
      note: 'It gets a mail with a link, one in 24 hours. Notices begin when somebody has agreed there, within 7 days.',
      json: { added: address, asked_at: asksAt },
    };
  },
};

const removeCommand: CommandSpec = {
  usage: 'remove <application> <address>',
  summary: 'send no further notices to an address',
  examples: ['notices remove shop ops@shop.example --reason "left the company"'],
  options: [reasonOption()],
  run: async ({ args: [application = '', typed = ''], reason, operations }) => {
    const address = await operations.notices.remove(application, typed, reason);
    return { text: facts({ removed: address }), json: { removed: address } };
  },
};

export const noticeCommands: CommandGroup = {
  name: 'notices',
  summary: "manage who is told that an application's receiver fails",
  examples: ['notices list shop', 'notices add --help'],
  commands: [listCommand, addCommand, removeCommand],
};
