export interface Statements {
  methods: object;
  /** Calls by method name. A second call of a method has a comma and a description behind the name. */
  calls: Record<string, () => Promise<unknown>>;
}
