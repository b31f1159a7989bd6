import { setFlagsFromString } from 'node:v8';

/* Import this file first, so that the flags apply from the first garbage collection. */

/*
 * With this flag, V8 runs a full collection once the heap is 10 % larger than the objects that survived the last one. Without the flag,
 * the heap may grow to three times their size. Nearly all objects live as long as one request, so full collections are rare. Measured with
 * the default settings: 150 MB of resident memory under load instead of 230 (up to 270), and up to 10 % fewer responses (decision
 * 0019). Delete this flag if throughput matters more than memory.
 */
setFlagsFromString('--heap-growing-percent=10');

/*
 * Without this flag, V8 allocates objects directly in the old generation if earlier objects from the same place in the code lived
 * long. It learns this at the start or in a burst, and does not unlearn it: in one of six processes, promotion rose from 2 % to between
 * 7 and 11 % (decision 0019). Delete this flag when test/system/processes/garbage-collection passes ten times without it.
 */
setFlagsFromString('--no-allocation-site-pretenuring');
