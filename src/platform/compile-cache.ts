import module from 'node:module';
import { fileURLToPath } from 'node:url';

/* Import this file before what it applies to, which must be imported dynamically: static imports are compiled before this file runs. */

/*
 * Compiling the code is most of the time that a program takes to start. Node 22.8 and later store the result beside the program when it
 * exits, or nothing if the folder is not writable; the types are those of Node 20.
 */
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => void };
enableCompileCache?.(fileURLToPath(new URL('compile-cache', import.meta.url)));
