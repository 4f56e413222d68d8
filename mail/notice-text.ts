import type { ErrorClass } from '../contract/attempt.ts';
import type { NoticeKind } from '../contract/notice.ts';

/** The state of an application's live receiver, without anything of an event, an order or an answer. */
export interface ReceiverFacts {
  /** Events that wait for their next attempt after one that failed. */
  waiting: number;
  /** Events whose attempts are used up. */
  exhausted: number;
  /** The class of the last error. */
  lastError: string | null;
  nextAttemptAt: Date | null;
}

export interface NoticeLinks {
  /** The documentation of webhooks. */
  docs: string;
  /** The application's page in the console; null: its address is not known. */
  console: string | null;
  unsubscribe: string;
  confirm: string;
}

const errors: Record<ErrorClass, string> = {
  dns: 'the name of its host was not found',
  connect: 'no connection was possible',
  tls: 'TLS failed, for example because of its certificate',
  timeout: 'it did not answer in time',
  reset: 'it broke the connection off',
  blocked: 'its address is private or reserved',
  http_status: 'it answered with another status than 2xx',
  protocol: 'its answer was no HTTP',
  no_url: 'the application has no webhook URL',
};

const subjects: Record<NoticeKind, (application: string) => string> = {
  confirmation: (application) => `Confirm notices about the webhooks of ${application}`,
  failing: (application) => `Webhooks of ${application} fail`,
  exhausted: (application) => `Webhooks of ${application} are not sent again by themselves`,
  recovered: (application) => `Webhooks of ${application} arrive again`,
  digest: (application) => `Webhooks of ${application} still fail`,
};

const utc = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const events = (many: number): string => `${many} ${many === 1 ? 'event' : 'events'}`;

const factLines = (facts: ReceiverFacts): string[] => [
  `Waiting for the next attempt: ${events(facts.waiting)}`,
  `Exhausted, six attempts failed: ${events(facts.exhausted)}`,
  ...(facts.lastError !== null && Object.hasOwn(errors, facts.lastError)
    ? [`Last error: ${errors[facts.lastError as ErrorClass]}`]
    : []),
  ...(facts.nextAttemptAt ? [`Next attempt: ${utc(facts.nextAttemptAt)}`] : []),
];

const harmless =
  'Webhooks that fail change no payment: a paid payment stays paid, and its event waits.';

const bodies: Record<
  Exclude<NoticeKind, 'confirmation'>,
  (application: string, since: Date, facts: ReceiverFacts) => string[]
> = {
  failing: (application, since, facts) => [
    `The receiver of ${application} has not accepted webhooks since ${utc(since)}. The service tries again by itself.`,
    factLines(facts).join('\n'),
    harmless,
  ],
  exhausted: (application, since, facts) => [
    `Since ${utc(since)}, events of ${application} are exhausted: six attempts failed, and the service does not send them again by itself. Mend the receiver, and have them replayed.`,
    factLines(facts).join('\n'),
    harmless,
  ],
  digest: (application, since, facts) => [
    `The receiver of ${application} has not been well since ${utc(since)}. This reminder comes once a day until it is.`,
    factLines(facts).join('\n'),
    harmless,
  ],
  recovered: (application, since, facts) => [
    `The receiver of ${application} has accepted webhooks again since ${utc(since)}.`,
    ...(facts.exhausted > 0
      ? [`Exhausted, and not sent by themselves: ${events(facts.exhausted)}. Have them replayed.`]
      : []),
  ],
};

/** Writes the mail of a notice, in plain text. */
export const writeNotice = (
  {
    kind,
    application,
    since,
    facts,
  }: { kind: NoticeKind; application: string; since: Date; facts: ReceiverFacts },
  links: NoticeLinks,
): { subject: string; text: string; headers: Record<string, string> } => {
  const parts =
    kind === 'confirmation'
      ? [
          `An admin of the payment service wants to tell this address when the webhooks of ${application} fail.`,
          `Agree here, within 7 days:\n${links.confirm}`,
          'Without your consent no further mail comes. Nobody reads an answer to this one.',
        ]
      : [
          ...bodies[kind](application, since, facts),
          [
            `How webhooks and replays work:\n${links.docs}`,
            ...(links.console === null ? [] : [`In the console:\n${links.console}`]),
          ].join('\n'),
          `No further mails about ${application}:\n${links.unsubscribe}`,
        ];
  return {
    subject: subjects[kind](application),
    text: `${parts.join('\n\n')}\n`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${links.unsubscribe}>`,
      // RFC 8058: a POST of the mail program unsubscribes at once.
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
};
