import { isMailAddress } from '../../contract/mail-address.ts';
import { createNoticeAddresses, type NoticeAddress } from '../../postgres/notices/addresses.ts';
import { findApplication, lockApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

const addressesMax = 5;

const refusals = {
  exists: (application: string) =>
    `${application} has the address already. Remove it to begin again.`,
  'has ended': (application: string) =>
    `The address has ended the notices of ${application}, so the service never writes to it again.`,
};

/** @returns one spelling of it, so that nobody gets a mail twice @throws Refusal */
const checkAddress = (typed: string): string => {
  const address = typed.trim().toLowerCase();
  // Without the text: what was typed wrong may be a secret.
  if (isMailAddress(address)) return address;
  throw new Refusal('That is not one e-mail address in ASCII, like ops@shop.example.');
};

/** The addresses that are told when the receiver of an application does not accept its webhooks. */
export const createNoticeOperations = ({
  sql,
  change,
  sendsMail,
}: Pick<Deps, 'sql' | 'change' | 'sendsMail'>) => ({
  /** False: the service has no mail server, so it writes nothing and sends nothing. */
  sendsMail,

  async list(application: string): Promise<NoticeAddress[]> {
    await findApplication(sql, application);
    return createNoticeAddresses(sql).list(application);
  },

  /**
   * It gets one mail with a link to confirm it, and no notice before that.
   * @returns when the mail is due: an address gets one in a day
   * @throws Refusal
   */
  async add(
    application: string,
    typed: string,
    reason: string | null,
  ): Promise<{ address: string; asksAt: Date }> {
    const address = checkAddress(typed);
    if (!sendsMail)
      throw new Refusal('The service has no mail server: set SMTP_HOST and SMTP_FROM first.');
    const subject = `application:${application}`;
    return change({ action: 'notice.add', subject, reason }, async (tx) => {
      await lockApplication(tx, application);
      const addresses = createNoticeAddresses(tx);
      const before = await addresses.list(application);
      if (before.length >= addressesMax)
        throw new Refusal(
          `An application has at most ${addressesMax} addresses. Remove one of ${application} first.`,
        );
      const answer = await addresses.insert(application, address);
      if (typeof answer === 'string') throw new Refusal(refusals[answer](application));
      return { result: { address, ...answer }, before: null, after: { address } };
    });
  },

  /** It gets no further mail. @throws Refusal */
  async remove(application: string, typed: string, reason: string | null): Promise<string> {
    const address = checkAddress(typed);
    const subject = `application:${application}`;
    return change({ action: 'notice.remove', subject, reason }, async (tx) => {
      await lockApplication(tx, application);
      if (!(await createNoticeAddresses(tx).delete(application, address)))
        throw new NotFound(`${application} has no such address. See notices list ${application}.`);
      return { result: address, before: { address }, after: null };
    });
  },
});
