import type { Context, Middleware } from 'koa';
import { DemoError } from './connection.ts';
import { contentSecurityPolicy, layout, type Page } from './layout.ts';
import { messagePage } from './pages.ts';

/** Answers every expected failure with a page, and lets a page load nothing from elsewhere. */
export const guard: Middleware = async (ctx, next) => {
  ctx.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
  try {
    await next();
    // Also where only a form leads, e.g. for who opens the address of a purchase that failed.
    if ((ctx.status === 404 || ctx.status === 405) && !ctx.body)
      await showMessage(ctx, ctx.status, 'There is no such page.');
  } catch (error) {
    if (!(error instanceof DemoError)) throw error;
    await showMessage(ctx, 502, error.message);
  }
};

export const show = async (ctx: Context, page: Omit<Page, 'path'>): Promise<void> => {
  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.body = String(await layout({ ...page, path: ctx.path }));
};

export const showMessage = (
  ctx: Context,
  status: 404 | 405 | 502,
  message: string,
): Promise<void> => {
  ctx.status = status;
  const title = status === 502 ? 'The payment service did not help' : 'Not here';
  return show(ctx, { title, content: messagePage({ title, message }) });
};
