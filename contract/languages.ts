/** The languages of the payer's pages. */
export const languages = ['en', 'fa', 'de', 'ar', 'tr'] as const;

export type Language = (typeof languages)[number];

/** The language of a tag like `fa-IR`, by its first part alone; undefined for one that the pages lack. */
export const languageOf = (tag: string | null | undefined): Language | undefined => {
  const name = tag?.split(/[-_]/, 1)[0]?.toLowerCase();
  return languages.find((language) => language === name);
};
