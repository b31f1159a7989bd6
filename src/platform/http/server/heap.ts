import { setFlagsFromString } from 'node:v8';

/*
 * Flags of V8 for a server, nearly all of whose objects live as long as one request (decision 0019). Imported first, so that they
 * hold for the first collection.
 */

// Objects are not allocated in the old generation, where they would keep everything that they refer to alive until a full
// collection.
setFlagsFromString('--no-allocation-site-pretenuring');

// The heap grows by 10 % of the live objects until the next full collection, not to three times of them. This is a pace and no
// limit.
setFlagsFromString('--heap-growing-percent=10');

// Few young objects are alive, so one thread copies them faster than it could wake others.
setFlagsFromString('--no-parallel-scavenge');
