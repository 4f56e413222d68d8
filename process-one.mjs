/*
 * The kernel ends no process with id 1 on a signal that it does not handle, and in a container without an init that
 * is ours. This module does what the kernel does for all others. Every process imports it before it loads anything
 * that takes time.
 */
const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

if (process.pid === 1)
  for (const [name, number] of Object.entries(signals))
    process.on(name, () => {
      // A listener of the program's own decides.
      if (process.listenerCount(name) === 1) process.exit(128 + number);
    });
