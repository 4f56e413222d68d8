/** The eight groups of an address in hex, without leading zeros; undefined for what is none. */
export const ipv6Groups = (text: string): string[] | undefined => {
  // URL refuses zones and writes every form, also with an embedded IPv4, as groups of hex.
  const canonical = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (canonical === undefined) return undefined;
  // `::` leaves out groups that are zero.
  const [head = '', tail] = canonical.split('::');
  const groupsOf = (part = '') => (part === '' ? [] : part.split(':'));
  const before = groupsOf(head);
  const after = groupsOf(tail);
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after];
};
