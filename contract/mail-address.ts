const local = "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~\\-]{1,64}";
const label = '[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?';

/** Domain and local part as in a browser's form. Without spaces, control characters and angle brackets. */
const mailAddressPattern = `^${local}@${label}(?:\\.${label})*$`;
const mailAddressMax = 254;

const mailAddress = new RegExp(mailAddressPattern);

/** Whether a text is one mail address in ASCII, which can end no line and no list of a mail's headers. */
export const isMailAddress = (text: string): boolean =>
  text.length <= mailAddressMax && mailAddress.test(text);
