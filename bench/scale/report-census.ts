import { renameSync, writeFileSync } from 'node:fs';
import { censusFile, takeCensus } from './census.js';

/** Loaded by `--import`: the process writes its census on each SIGUSR2. */
process.on('SIGUSR2', () => {
  const file = censusFile(process.pid);
  writeFileSync(`${file}.new`, JSON.stringify(takeCensus()));
  renameSync(`${file}.new`, file);
});
