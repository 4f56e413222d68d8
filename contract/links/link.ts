import { boolean, integer, nullable, shown, text, time } from '../fields.ts';

/** `paid` is final, also of a link that was disabled while somebody paid. */
export const linkStatuses = ['open', 'paid', 'expired', 'disabled'] as const;
export type LinkStatus = (typeof linkStatuses)[number];

/** The longest time that a link can be paid, in seconds: 90 days. */
export const linkExpiresIn = { min: 300, max: 7_776_000, default: 2_592_000 } as const;

/** The payments that a link may begin. */
export const linkTriesMax = 100;

/** An order that whoever has its address may pay once. A gateway hears of it when a payer begins. */
export interface Link {
  id: string;
  application: string;
  test: boolean;
  orderId: string;
  status: LinkStatus;
  /** In minor units of the currency. */
  amount: number;
  currency: string;
  /** The text for the payer. */
  description: string | null;
  /** The language of the page for browsers that choose none on it. */
  locale: string | null;
  /** The payment that has paid it. */
  paymentId: string | null;
  expiresAt: Date;
  createdAt: Date;
  paidAt: Date | null;
  disabledAt: Date | null;
}

/** The page of a link. A payer opens it. */
export const linkUrl = (id: string, publicBaseUrl: string): string =>
  `${publicBaseUrl}/api/v1/links/${id}/pay`;

const field = shown<Link>();

/** The fields of a link by their names in the API, in the API's order. */
export const linkFields = {
  link_id: field('id', text),
  application: field('application', text),
  order_id: field('orderId', text),
  status: field('status', text),
  amount: field('amount', integer),
  currency: field('currency', text),
  description: field('description', nullable(text)),
  locale: field('locale', nullable(text)),
  url: ({ id }: Link, publicBaseUrl: string) => JSON.stringify(linkUrl(id, publicBaseUrl)),
  payment_id: field('paymentId', nullable(text)),
  test: field('test', boolean),
  expires_at: field('expiresAt', time),
  created_at: field('createdAt', time),
  paid_at: field('paidAt', nullable(time)),
  disabled_at: field('disabledAt', nullable(time)),
} as const;
export type LinkField = keyof typeof linkFields;

const fields = Object.entries(linkFields);

/** The JSON of a link in the API: all fields in their order. */
export const presentLink = (link: Link, publicBaseUrl: string): string =>
  `{${fields.map(([name, toJson]) => `"${name}":${toJson(link, publicBaseUrl)}`).join()}}`;

/** A link as its create has made it. */
export const asCreatedLink = (link: Link): Link => ({
  ...link,
  status: 'open',
  paymentId: null,
  paidAt: null,
  disabledAt: null,
});
