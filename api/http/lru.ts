const most = 10_000;

/** Sets a key of what is remembered of the latest alone: the one that was set longest ago makes room. */
export const setRecent = <K, V>(latest: Map<K, V>, key: K, value: V): void => {
  latest.delete(key);
  latest.set(key, value);
  const [oldest] = latest.keys();
  if (latest.size > most && oldest !== undefined) latest.delete(oldest);
};
