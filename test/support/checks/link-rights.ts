import { expect, it, onTestFinished } from 'vitest';
import { newLinkId } from '../../../contract/ids.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { operationsOn } from '../service/admin-operations.ts';
import { answered } from '../service/journey.ts';
import type { SharedService } from '../service/service.ts';
import { until } from '../until.ts';
import type { DatabaseRole } from './forbidden-statements.ts';

const aLinkOf = (application: string) => ({
  ...{ application, test: true, orderId: 'by an admin', currency: 'EUR', amount: 600 },
  ...{ description: null, locale: null, expiresIn: 3_600 },
});

/** Tests that each process has the rights that links need, under its own role, and no others. */
export const testLinkRights = (
  service: Pick<SharedService, 'anApplication' | 'sql'>,
  as: Readonly<Record<DatabaseRole, Sql>>,
): void => {
  const byCli = operationsOn(as.admin);

  it('the api makes a link and the worker ends it, and admins make, confirm and disable theirs', async () => {
    const { sql } = service;
    const { journey: own, application } = await service.anApplication();
    const body = { order_id: 'by link', amount: 1250, currency: 'EUR' };
    const made = await own.request('POST', '/api/v1/links', body);
    expect(made.status, made.text).toBe(201);
    const id = String(made.json['link_id']);
    const begun = await own.call('POST', `/api/v1/links/${id}/pay`);
    const payment = /PAY_\w{26}/.exec(begun.headers.get('location') ?? '')?.[0] ?? '';
    await answered(() => own.checkout(payment));
    await own.choose(payment, 'pay');
    await until('the link is paid', async () => {
      await own.comeBack(payment);
      return (await own.request('GET', `/api/v1/links/${id}`)).json['status'] === 'paid';
    });

    await sql`
      insert into console_people (name, role) values ('ada-console', 'admin'), ('bob', 'admin') on conflict do nothing`;
    await byCli.links.setApprovalAbove('EUR', 1_000, 'the rule of the house');
    onTestFinished(() => byCli.links.setApprovalAbove('EUR', null, 'the end'));
    const wanted = aLinkOf(application);
    for (const [role, via] of [
      ['admin', 'cli'],
      ['console', 'console'],
    ] as const) {
      const by = (actor: string) => operationsOn(as[role], { actor, via }).links;
      const alone = await by(`ada-${role === 'admin' ? 'cli' : 'console'}`).create(wanted, 'alone');
      expect(alone.link.toConfirm).toBe(false);
      const { link } = await by(alone.link.askedBy ?? '').create(wanted, 'above the rule');
      expect(link.toConfirm).toBe(true);
      const page = `/api/v1/links/${link.id}/pay`;
      expect((await own.call('GET', page)).status).toBe(404);
      expect((await own.call('POST', page)).status).toBe(404);
      expect((await own.request('GET', `/api/v1/links/${link.id}`)).status).toBe(404);
      await expect(by(link.askedBy ?? '').confirm(link.id, null)).rejects.toThrow('Another admin');
      await by('bob').confirm(link.id, 'seen');
      expect((await own.call('GET', page)).status).toBe(200);
      await by('bob').disable(link.id, 'enough');
      expect(await by('bob').get(link.id)).toMatchObject({ status: 'disabled' });
    }
  });

  it.each([
    ['api', 'admin', 'ada', 'cli'],
    ['admin', 'admin', 'ada', 'console'],
    ['admin', 'application', null, null],
    ['console', 'admin', 'ada-console', 'cli'],
    ['console', 'admin', 'invented', 'console'],
    ['console', 'application', null, null],
  ] as const)('%s makes no link as %s %s of the %s', async (role, kind, actor, via) => {
    const { application } = await service.anApplication();
    const insert = as[role]`
      insert into links (id, application, test, order_id, amount, currency, expires_at, requested_by, asked_by, asked_via)
      values (${newLinkId()}, ${application}, true, 'order', 1250, 'EUR', now() + interval '1 day',
        ${kind}, ${actor}, ${via})`;
    await expect(insert).rejects.toMatchObject({ code: '42501' });
  });
};
