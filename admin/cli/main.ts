import '../../node-version.mjs';

// A signal that comes while all this is being loaded finds a listener.
await import('./start.ts');
