import './platform/http/server/v8-flags.js';
import './platform/compile-cache.js';

// Imported here, so that the compile cache applies to it.
await import('./start.js');
