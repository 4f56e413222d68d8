const entriesMax = 10_000;

/** Sets a key, and evicts the key that was set longest ago when there are too many. */
export const setRecent = <K, V>(entries: Map<K, V>, key: K, value: V): void => {
  // A Map iterates in order of insertion; setting a key again does not move it.
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest);
};
