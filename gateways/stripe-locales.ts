/** The languages of Stripe's page. Source: `Checkout.Session.Locale` of stripe-node. */
const locales =
  'bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hi-IN hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR ro ru sk sl sv th tr vi zh zh-HK zh-TW'.split(
    ' ',
  );

/** The language of Stripe's page for a tag like `de-AT`; undefined for one that it lacks. */
export const stripeLocaleOf = (tag: string): string | undefined => {
  const wanted = tag.replaceAll('_', '-').toLowerCase();
  const find = (name: string | undefined) =>
    locales.find((locale) => locale.toLowerCase() === name);
  return find(wanted) ?? find(wanted.split('-', 1)[0]);
};
