import { createHmac, timingSafeEqual } from 'node:crypto';

/** A character has three bytes at most, and base64 adds a third: with the seal less than the 4 KB of a cookie. */
const messageMax = 500;

const sealOf = (secret: string, text: string): Buffer =>
  createHmac('sha256', secret).update(`message:${text}`).digest();

/** The words about a change for the next page, sealed by the secret of the session: others can plant no cookie that is shown. */
export const sealMessage = (secret: string, message: string): string => {
  const text = Buffer.from(message.slice(0, messageMax).toWellFormed()).toString('base64url');
  return `${text}.${sealOf(secret, text).toString('base64url')}`;
};

/** @returns undefined for what this session has not sealed */
export const openMessage = (secret: string, cookie: string): string | undefined => {
  const [text = '', seal = ''] = cookie.split('.');
  const given = Buffer.from(seal, 'base64url');
  const own = sealOf(secret, text);
  if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
  return Buffer.from(text, 'base64url').toString();
};
