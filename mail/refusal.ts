/** An operator mends this after a mail server has refused. */
export type RefusalAbout =
  | 'recipient'
  /** It is full, or wants no such mail for now. */
  | 'mailbox'
  /** SMTP_FROM. */
  | 'sender'
  /** The machine of the worker: its address, its name. */
  | 'host'
  | 'login'
  /** The server does not deliver this: no relay, a block list, a rule. */
  | 'policy'
  | 'content'
  /** The mail server itself, or the one behind it. */
  | 'server'
  | 'unclear';

/** The server wants a login, or another one, or TLS before it (RFC 4954, RFC 3207). */
const byReply: Partial<Record<number, RefusalAbout>> = {
  530: 'login',
  534: 'login',
  535: 'login',
  538: 'login',
  /** The domain of the recipient takes no mail (RFC 7504). */
  556: 'recipient',
};

/**
 * By the last two numbers of the enhanced status, or by the first one of them (RFC 3463, RFC 4954, RFC 7372, RFC 7505). A subject
 * that is not listed says nothing: 1.0 is an address, of the sender or of the recipient; 5.x is a command, and may be EHLO's name.
 */
const byStatus: Partial<Record<string, RefusalAbout>> = {
  '1.1': 'recipient',
  '1.2': 'recipient',
  '1.3': 'recipient',
  '1.4': 'recipient',
  '1.6': 'recipient',
  '1.10': 'recipient',
  '1.7': 'sender',
  '1.8': 'sender',
  '2.1': 'recipient',
  '2': 'mailbox',
  '3': 'server',
  '4': 'server',
  '6': 'content',
  '7.8': 'login',
  '7.9': 'login',
  '7.11': 'login',
  '7.12': 'login',
  '7.13': 'login',
  '7.20': 'sender',
  '7.21': 'sender',
  '7.22': 'sender',
  '7.23': 'sender',
  '7.24': 'sender',
  '7.25': 'host',
  '7.26': 'sender',
  '7.27': 'sender',
  '7': 'policy',
};

/** By the library's names of the steps. Servers keep refusals of the sender and the host back until RCPT TO, so that one is unclear. */
const byStep: Partial<Record<string, RefusalAbout>> = {
  CONN: 'host',
  EHLO: 'host',
  HELO: 'host',
  STARTTLS: 'server',
  AUTH: 'login',
  'MAIL FROM': 'sender',
  DATA: 'content',
};

export interface Refusal {
  about: RefusalAbout;
  /** The enhanced status, like 5.1.1; null without one that fits the reply's code. */
  status: string | null;
  /** The recipient's address will never take a mail. Everything else may be mended, and is tried again. */
  isFinal: boolean;
}

/** The server knows the address of the recipient. */
const knowsRecipient = (step: string): boolean => step === 'RCPT TO' || step === 'DATA';

const aboutOf = (
  step: string,
  { reply, subject, detail }: { reply: number; subject: string; detail: string },
): RefusalAbout | undefined => {
  const isBeforeMail = step !== 'MAIL FROM' && !knowsRecipient(step);
  // A temporary refusal before a mail is the server's own trouble.
  if (isBeforeMail && reply < 500) return 'server';
  const named =
    byReply[reply] ??
    // Before a mail the status tells no more than the step.
    (isBeforeMail ? undefined : (byStatus[`${subject}.${detail}`] ?? byStatus[subject]));
  // Some servers say 5.1.1 of a sender that they do not know.
  const isTooEarly = (named === 'recipient' || named === 'mailbox') && !knowsRecipient(step);
  return (isTooEarly ? undefined : named) ?? byStep[step.replace(/^AUTH .*/, 'AUTH')];
};

/**
 * Reads what a mail server's refusal is about.
 * @param step the library's name of the command
 * @param reply the code of the reply, 400 to 599
 * @param text the reply, with its code
 */
export const readRefusal = (step: string, reply: number, text: string): Refusal => {
  // A status of another class than the reply's contradicts it.
  const [, status = null, subject = '', detail = ''] =
    /^([45])\d\d[ -](\1\.(\d{1,3})\.(\d{1,3}))(?=\s|$)/.exec(text)?.slice(1) ?? [];
  const about = aboutOf(step, { reply, subject, detail }) ?? 'unclear';
  return { about, status, isFinal: about === 'recipient' && reply >= 500 };
};
