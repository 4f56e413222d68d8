import { html } from 'hono/html';
import { readableFacts } from '../../operations/audit-money.ts';
import { labelOf, labels } from '../../operations/labels.ts';
import type {
  AuditAction,
  AuditFacts,
  AuditFilter,
  AuditRecord,
} from '../../../postgres/audit-log.ts';
import type { Chip } from '../filter-bar.ts';
import { pageOf, pageSize } from '../filters.ts';
import { coded, cut, escapeControls, type Html, link, type Row, shortId } from '../html.ts';
import { listPage, listRoutes } from '../list-page.ts';
import { readTimes } from '../period.ts';
import { oneOf, type Query } from '../query.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';

/** Everybody who works has many, and nobody looks for them but after an incident. */
const logins: readonly AuditAction[] = ['console.login', 'console.refuse_login'];

const textMax = 100;
const nameMax = 200;

/** Names and codes that are written with underscores. */
const plain = (text: string): string =>
  /^[a-z]+(?:_[a-z]+)+$/.test(text) ? text.replaceAll('_', ' ') : text;

const show = (value: AuditFacts[string] | undefined): string => {
  const text = Array.isArray(value) ? value.join(', ') : plain(String(value ?? ''));
  return text === '' ? 'none' : text;
};

/** The differences that a change made: `requests per minute: 120 → 1000`. */
const changesOf = (record: AuditRecord): string[] => {
  const { before, after } = readableFacts(record);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .map((name) => ({ name: plain(name), old: before?.[name], now: after?.[name] }))
    .filter(({ old, now }) => show(old) !== show(now))
    .map(({ name, old, now }) => {
      if (old === undefined || before === null) return `${name}: ${show(now)}`;
      // A fact of before that the change does not speak of. A value that was taken away is null.
      return now === undefined ? `${name}: ${show(old)}` : `${name}: ${show(old)} → ${show(now)}`;
    });
};

/** The pages of things by their ids, wherever an id stands. */
const pageOfId = (id: string): string => {
  if (id.startsWith('PAY_')) return `/payments/${id}`;
  if (id.startsWith('REFUND_')) return `/refunds/${id}`;
  if (id.startsWith('LNK_')) return `/links/${id}`;
  return id.startsWith('RPL_') ? `/deliveries/replays/${id}` : `/events/${id}`;
};
const anId =
  /(\b(?:PAY|REFUND|LNK|RPL)_[0-9A-HJKMNP-TV-Z]{26}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)/;

/** A text in which each id leads to its thing. */
const linked = (text: string): Html =>
  // Every second part is an id.
  html`${text
    .split(anId)
    .map((part, index) =>
      index % 2 === 1 ? link(pageOfId(part), part) : html`<bdi>${escapeControls(part)}</bdi>`,
    )}`;

/** The page of a subject; null: it has none. */
const addressOf = (kind: string, name: string): string | null => {
  const path = encodeURIComponent(name);
  if (kind === 'payment') return `/payments/${path}`;
  if (kind === 'refund') return `/refunds/${path}`;
  if (kind === 'link') return `/links/${path}`;
  if (kind === 'application') return `/applications/${path}`;
  if (kind === 'replay') return `/deliveries/replays/${path}`;
  if (kind === 'account_difference') return `/accounts/differences/${path}`;
  if (kind === 'gateway') return `/gateways/${path}`;
  return kind === 'person' || kind === 'console' ? '/people' : null;
};

/** The thing that a record is about, with the way to its page. */
const subjectOf = (subject: string): Html => {
  const [kind = '', ...rest] = subject.split(':');
  const name = rest.join(':');
  const address = addressOf(kind, name);
  const word = html`${labelOf('subject', kind)}`;
  if (name === '') return word;
  if (address === null) return html`${word} <bdi>${escapeControls(name)}</bdi>`;
  return html`${word} ${/^(?:PAY|REFUND|LNK|RPL)_/.test(name) ? shortId(address, name) : cutLink(address, name)}`;
};

/** A name in one line. */
const cutLink = (href: string, name: string): Html => html`<a href="${href}">${cut(name)}</a>`;

/** The address of the audit log with one condition. */
const sliceOf = (name: 'actor' | 'action' | 'subject', value: string): string =>
  `/audit?${String(new URLSearchParams({ [name]: value }))}`;

/** The reason and the change in a line. The line opens when it is too long. */
const detailsOf = (record: AuditRecord): Html | null => {
  const lines = [record.reason, ...changesOf(record)].filter((line) => line !== null);
  const [first = '', ...others] = lines;
  if (lines.length === 0) return null;
  if (lines.join(' · ').length <= lineMax)
    return html`${linked(first)}${others.map((line) => html` · <span class="soft">${linked(line)}</span>`)}`;
  return html`<details class="more">
    <summary><bdi>${escapeControls(lines.join(' · ').slice(0, lineMax))}…</bdi></summary>
    ${lines.map((line) => html`<p>${linked(line)}</p>`)}
  </details>`;
};
const lineMax = 60;

const rowOf = (record: AuditRecord): Row => ({
  Time: record.at,
  Who: html`<span title="${record.via === null ? 'by itself' : `through the ${labelOf('via', record.via)}`}">${cutLink(sliceOf('actor', record.actor), record.actor)}</span>`,
  What: html`<a href="${sliceOf('action', record.action)}">${coded('audit', record.action)}</a>`,
  Thing: html`${subjectOf(record.subject)} <a class="soft" href="${sliceOf('subject', record.subject)}" title="Only the records of it">all</a>`,
  'Reason and change': detailsOf(record),
});

/** The actions whose words have this text. */
const actionsWith = (part: string): string[] =>
  Object.entries(labels.audit)
    .filter(([, word]) => word.includes(part.toLowerCase()))
    .map(([action]) => action);

const actions = Object.keys(labels.audit) as AuditAction[]; // Object.keys widens to string.

/** `payment:PAY_…`, or the kind of a thing that is alone. */
const readSubject = (text: string): string | null => {
  const [kind = ''] = text.split(':', 1);
  return text.length <= nameMax && Object.hasOwn(labels.subject, kind) ? text : null;
};

const readAuditFilter = (request: PersonRequest, now: Date): AuditFilter => {
  const { query } = request;
  const { from, to } = readTimes(request, now);
  const part = query.readText('text', textMax);
  const action = query.read('action', oneOf(actions));
  const showsLogins = query.read('logins', oneOf(['shown'])) !== null;
  const hides = action === null && !showsLogins;
  return {
    subject: query.read('subject', readSubject),
    actor: query.readText('actor', nameMax),
    action,
    hidden: hides ? logins : [],
    text: part === null ? null : { part, actions: actionsWith(part) },
    from,
    to,
    before: query.read('after', (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null)),
    limit: pageSize + 1,
  };
};

const textFields = ({ actor, text, hidden }: AuditFilter): Html =>
  html`<label>Person <input name="actor" maxlength="100" size="14" value="${actor ?? ''}" autocomplete="off" spellcheck="false" /></label>
    <label>Text <input name="text" maxlength="${textMax}" size="18" value="${text?.part ?? ''}" autocomplete="off" spellcheck="false" /></label>
    <label class="choice"><input type="checkbox" name="logins" value="shown" ${hidden?.length ? '' : html`checked`} /> Logins, too</label>`;

const subjectWords = (subject: string): string => {
  const [kind = '', ...rest] = subject.split(':');
  const refunds = kind === 'payment' ? ' and its refunds' : '';
  return `Thing: ${labelOf('subject', kind)} ${rest.join(':')}${refunds}`;
};

/** The thing and the action come from links. */
const chipsOf = ({ subject, action, actor, text }: AuditFilter, query: Query): Chip[] => [
  ...(subject ? [{ words: subjectWords(subject), names: ['subject'] }] : []),
  ...(action ? [{ words: `What: ${labelOf('audit', action)}`, names: ['action'] }] : []),
  ...(actor ? [{ words: `Person: ${actor}`, names: ['actor'] }] : []),
  ...(text ? [{ words: `Text: ${text.part}`, names: ['text'] }] : []),
  ...(query.get('logins') === 'shown' ? [{ words: 'Logins, too', names: ['logins'] }] : []),
];

export const auditRoutes = ({ now }: Pick<Deps, 'now'>): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations } = request;
    const filter = readAuditFilter(request, now());
    const { rows, last } = pageOf(await operations.auditLog(filter));
    const end = last ? undefined : await operations.auditSearchedBackTo(filter);
    return listPage(request, {
      title: 'Audit',
      caption: 'Audit log',
      path: '/audit',
      texts: { fields: textFields(filter) },
      chips: chipsOf(filter, query),
      kept: ['subject', 'action'],
      listed: { rows, next: last ? String(last.id) : end ? String(end.id) : null },
      rowOf,
      ifEmpty: 'The audit log has no such record.',
      searched: { records: 'records', backTo: end?.at },
    });
  };

  return listRoutes('/audit', list);
};
