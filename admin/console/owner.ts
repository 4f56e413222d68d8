import { eventIdPattern } from '../../contract/ids.ts';
import type { ConsoleRights } from '../../postgres/console/logins.ts';
import type { Query } from './query.ts';
import type { ConsoleResponse, Deps, Owner, PersonRequest, PersonRoute } from './request.ts';
import { pathWith, redirect } from './request.ts';

export const ofSlug: Owner = async ({ params }) => params.slug;

export const ofPayment: Owner = async ({ params, operations }) =>
  operations.payments.applicationOf(params.id);

export const ofRefund: Owner = async ({ params, operations }) =>
  operations.refunds.applicationOf(params.id);

export const ofDispute: Owner = async ({ params, operations }) =>
  operations.disputes.applicationOf(params.id);

export const ofLink: Owner = async ({ params, operations }) =>
  operations.links.applicationOf(params.id);

export const ofEvent =
  ({ queries }: Pick<Deps, 'queries'>): Owner =>
  async ({ params }) => {
    const id = params.event;
    return eventIdPattern.test(id) ? (await queries.findByEvent(id))?.application : undefined;
  };

/**
 * Lets people of some applications see these and nothing else. A list without an application shows their first one.
 * @returns what they get instead of the page; undefined if they may see it
 */
export const refuseStranger = async (
  { owner, path }: PersonRoute,
  request: PersonRequest,
): Promise<ConsoleResponse | 'not found' | undefined> => {
  const { session, query, params, operations } = request;
  const own = session.applications;
  if (own === null && owner === 'list') await rejectUnknown(query, operations);
  if (own === null || owner === 'person') return undefined;
  if (owner === undefined) return 'not found';
  if (owner === 'list' && !query.get('application')) {
    const asked = new URLSearchParams(query);
    asked.set('application', own[0] ?? '');
    return redirect(`${pathWith(path, params)}?${String(asked)}`);
  }
  const found = owner === 'list' ? query.get('application') : await owner(request);
  return found && isVisible(found, session) ? undefined : 'not found';
};

/** An application that is not there must not look like one without data. */
const rejectUnknown = async (
  query: Query,
  { applications }: PersonRequest['operations'],
): Promise<void> => {
  const application = query.get('application');
  if (application && !(await applications.exists(application))) query.reject(['application']);
};

export const isVisible = (
  application: string,
  { applications }: Pick<ConsoleRights, 'applications'>,
): boolean => applications?.includes(application) ?? true;

/** The gateways that the person can choose in a list: nobody learns of the accounts of other applications. */
export const visibleGateways = ({
  session,
  operations,
}: Pick<PersonRequest, 'session' | 'operations'>): Promise<string[]> =>
  operations.gateways.usableBy(session.applications);

/** The applications that the person can choose in a list. */
export const visibleApplications = async ({
  session,
  operations,
}: Pick<PersonRequest, 'session' | 'operations'>): Promise<string[]> =>
  session.applications ?? (await operations.applications.list(1_000)).map(({ slug }) => slug);
