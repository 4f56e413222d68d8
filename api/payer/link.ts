/** A payer's link with what chats, mail programs and people add to it. */
const changedLink =
  /^\/+api\/+v1\/+(?:payments\/+[^\w/]*(?<id>PAY_[0-9A-Z]{26})[^\w/]*\/+(?<page>checkout|return|outcome)|links\/+[^\w/]*(?<link>LNK_[0-9A-Z]{26})[^\w/]*\/+pay|sandbox\/+[^\w/]*(?<sandbox>PAY_[0-9A-Z]{26}))(?:\/*|[^\w/-].*)$/is;

/**
 * The path of a payer's link in the form in which the table of routes has it. Payers cannot repair a link that was changed, and
 * its meaning is certain. Any other path stays as it is.
 */
export const payerPath = (path: string): string => {
  const { id, page, link, sandbox } = changedLink.exec(decodeOrEmpty(path))?.groups ?? {};
  if (link !== undefined) return `/api/v1/links/${link.toUpperCase()}/pay`;
  if (sandbox !== undefined) return `/api/v1/sandbox/${sandbox.toUpperCase()}`;
  return id !== undefined && page !== undefined
    ? `/api/v1/payments/${id.toUpperCase()}/${page.toLowerCase()}`
    : path;
};

const decodeOrEmpty = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
};
