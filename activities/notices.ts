import { randomBytes } from 'node:crypto';
import { cancellationSignal } from '@temporalio/activity';
import type { NoticeResult } from '../contract/notice.ts';
import { writeNotice } from '../mail/notice-text.ts';
import type { Mailer, TryEnd } from '../mail/smtp.ts';
import type { DueNotice, NoticeQueue } from '../postgres/notices/queue.ts';
import type { Receivers } from '../postgres/webhooks/receivers.ts';
import { noticesSent } from '../temporal/failures.ts';
import type { Log } from './log.ts';

export interface Deps {
  noticeQueue: NoticeQueue;
  receivers: Pick<Receivers, 'get'>;
  /** Undefined without a mail server. */
  mailer: Mailer | undefined;
  /** Counts ends of notices, and `retried` tries. */
  countNotices: (result: NoticeResult | 'retried', many?: number) => void;
  publicBaseUrl: string;
  consoleUrl: string | undefined;
  logger: Pick<Log, 'warn'>;
}

const intervalMs = 30_000;
/** The activity has 30 s. No mail begins after these, and none lasts longer than those. */
const beginsMs = 10_000;
const lastsMs = 20_000;
const mailsAtOnce = 2;
const mostDue = 100;

const nothing = { waiting: 0, exhausted: 0, lastError: null, nextAttemptAt: null };

export const createNoticeActivities = (deps: Deps) => {
  const { noticeQueue, receivers, countNotices, publicBaseUrl, consoleUrl, logger } = deps;

  const record = async (notice: DueNotice, end: TryEnd): Promise<void> => {
    if (end.result === 'not_claimed') return;
    let result: NoticeResult | 'retried' = end.result === 'again' ? 'retried' : end.result;
    if (result !== 'retried') await noticeQueue.finish(notice, result);
    else if (await noticeQueue.retryLater(notice)) result = 'failed';
    countNotices(result);
    if (!('code' in end)) return;
    const { application, kind } = notice;
    const { code, about, status } = end;
    // The server's own text may hold the address or the login.
    const facts = {
      ...{ application, kind, result },
      ...{ code, response_code: end.responseCode, status, about },
    };
    logger.warn(facts, 'Could not send a notice to the people of an application');
  };

  const send = async (mailer: Mailer, notice: DueNotice, signal: AbortSignal): Promise<void> => {
    const { application, kind, since, address } = notice;
    const token = randomBytes(32).toString('base64url');
    const link = `${publicBaseUrl}/api/v1/notices/${token}`;
    const health = (await receivers.get(application, false)) ?? nothing;
    const mail = writeNotice(
      { kind, application, since, facts: health },
      {
        docs: `${publicBaseUrl}/api/v1/docs`,
        console: consoleUrl === undefined ? null : `${consoleUrl}/applications/${application}`,
        unsubscribe: link,
        confirm: `${link}/confirm`,
      },
    );
    const claim = () => noticeQueue.claim(notice, token);
    await record(notice, await mailer.send({ ...mail, to: address }, { claim, signal }));
  };

  return {
    /**
     * Sends the notices that are due. Like the sweep it always fails, and Temporal's retry is the next round. A notice is
     * claimed before its mail is sent, so a crash sends none twice.
     * @throws ApplicationFailure NoticesSent
     */
    async sendNotices(): Promise<never> {
      const began = performance.now();
      const { mailer } = deps;
      if (mailer) {
        const lost = await noticeQueue.endLost();
        countNotices('unknown', lost.unknown);
        countNotices('failed', lost.failed);
        const signal = AbortSignal.any([cancellationSignal(), AbortSignal.timeout(lastsMs)]);
        const due = await noticeQueue.listDue(mostDue);
        const queue = due.values();
        const lane = async () => {
          for (const notice of queue) {
            if (performance.now() > began + beginsMs) return;
            await send(mailer, notice, signal);
          }
        };
        const lanes = await Promise.allSettled(Array.from({ length: mailsAtOnce }, lane));
        for (const end of lanes) if (end.status === 'rejected') throw end.reason;
        if (due.length > 0) await noticeQueue.deleteOldLinks();
      }
      throw noticesSent(Math.max(Math.round(began + intervalMs - performance.now()), 1_000));
    },
  };
};
