/**
 * The languages of Mollie's page. Source: `locale` of Mollie's OpenAPI document. The first one of each language stands
 * for the countries that it lacks.
 */
const locales =
  'ca_ES cs_CZ da_DK de_DE de_AT de_CH de_LU en_GB en_US en_NL en_BE es_ES fi_FI fr_FR fr_BE fr_LU hu_HU is_IS it_IT lt_LT lv_LV nb_NO nl_NL nl_BE pl_PL pt_PT sk_SK sv_SE'.split(
    ' ',
  );

/** The language of Mollie's page for a tag like `de-AT`; undefined for one that it lacks. */
export const mollieLocaleOf = (tag: string): string | undefined => {
  const wanted = tag.replaceAll('-', '_').toLowerCase();
  const [language = ''] = wanted.split('_', 1);
  return (
    locales.find((locale) => locale.toLowerCase() === wanted) ??
    locales.find((locale) => locale.startsWith(`${language}_`))
  );
};
