import { renameSync, writeFileSync } from 'node:fs';
import { censusFile, takeCensus } from './census.js';

/** Loaded into a process by `--import`, it lets that process count itself at each SIGUSR2. */
process.on('SIGUSR2', () => {
  const file = censusFile(process.pid);
  writeFileSync(`${file}.new`, JSON.stringify(takeCensus()));
  renameSync(`${file}.new`, file);
});
