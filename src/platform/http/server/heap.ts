import { setFlagsFromString } from 'node:v8';

/*
 * Fits V8's heap to a server, nearly all of whose objects belong to one request and die with it (decision 0019). Imported before
 * everything else, so that the first collections know it.
 */

// What comes from a place whose objects once lived long is not made in the old generation: there it would keep alive what it
// refers to, until a full collection.
setFlagsFromString('--no-allocation-site-pretenuring');

// A heap may grow by this much of what is alive until the next full collection, where it would grow to three times of it. It is
// a pace and no limit: what is needed is there.
setFlagsFromString('--heap-growing-percent=10');

// So few young objects are alive that one thread copies them sooner than others wake up to help.
setFlagsFromString('--no-parallel-scavenge');
