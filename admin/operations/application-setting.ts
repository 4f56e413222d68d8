import type { Application, ApplicationSettings } from '../../postgres/applications/applications.ts';

export type Settings = Omit<ApplicationSettings, 'status'>;
export type Name = keyof Settings;

/** The control with which a person gives a value. No form shows a `url` again, because it may hold a key. */
export type Input =
  | { kind: 'choice'; choices: readonly string[] }
  | { kind: 'number' | 'text' | 'lines'; max: number }
  | { kind: 'gateway' | 'url' };

export interface Description<Value> {
  /** Its name in facts and forms. */
  label: string;
  /** Its name in forms, where that says more. */
  fieldLabel?: string;
  /** Its field in forms. */
  field: string;
  input: Input;
  /** Its option of the command line, and what it is for. */
  option: readonly [flags: string, help: string];
  /** The help of `--no-<option>`, which removes the value. */
  removal?: string;
  /** A new application has it unless it names another one. Undefined: it must name one. */
  byDefault?: Value;
  /** The value as a person types it: several words for lines. */
  write: (value: Value) => readonly string[];
  /** Stands for a value without words. */
  ifEmpty?: (application: Pick<Application, 'slug'>) => string;
  /** The value of typed words, which nobody has checked. */
  read: (words: readonly string[]) => Value;
  /** Why an application cannot have the value, in a sentence. */
  check?: (value: Value) => string | undefined;
  /** The page of the console that changes it. Undefined: the page of another one has it, too. */
  page?: Page;
}

interface Page {
  /** Below the path of the application. */
  path: string;
  /** The page changes both at once. */
  with?: Name;
  title: (slug: string) => string;
  /** The effect of a change, in whole sentences. */
  consequence: string;
  /** A sentence more for some applications. */
  remark?: (application: Application) => string;
  isSensitive?: boolean;
  /** @param shown the new value */
  done: (slug: string, shown: string) => string;
}
