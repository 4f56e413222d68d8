import { NotConfirmed } from '../../postgres/admin/confirmations.ts';
import { Refusal } from './change.ts';

/** Whether two names of admins mean one person, as `person_of` in Postgres decides. */
export const isSamePerson = (one: string, other: string): boolean => {
  const [first, second] = [one, other].map((name) =>
    name.normalize('NFKC').replaceAll(/\s/g, '').toLowerCase(),
  );
  return first === second;
};

/**
 * Says why a confirmation of a second admin is not accepted.
 * @param askedBy the first admin
 * @throws Refusal
 */
export const orRefusal = async (
  confirming: Promise<void>,
  subject: string,
  askedBy: string | null,
): Promise<void> => {
  try {
    await confirming;
  } catch (error) {
    if (!(error instanceof NotConfirmed)) throw error;
    throw new Refusal(
      {
        'nothing waits': `${subject} does not wait for a second admin.`,
        'the same person': `Another admin than ${askedBy} must confirm ${subject}.`,
        'an unknown name': `${subject} was asked for in the console and is confirmed on the command line, or the other way round: the name on the command line must be that of an admin of the console, so that it is known to be another person.`,
      }[error.why],
    );
  }
};
