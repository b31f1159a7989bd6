import { Injectable } from '@nestjs/common';
import { DatabaseFacts } from '../../database/database-facts.js';
import { ok, warning, type Check, type Finding } from './check.js';

const OLDEST = { SQLite: [3, 40], MariaDB: [10, 11], MySQL: [8, 4] } as const;
/** Each request asks the database several times. */
const SLOW_MS = 50;

/** Which database it is, and how fast it answers. */
@Injectable()
export class DatabaseServerCheck implements Check {
  readonly name = 'database';

  constructor(private readonly facts: DatabaseFacts) {}

  async run(): Promise<Finding[]> {
    const { name, version } = await this.facts.engine();
    const latency = await this.facts.latency();
    const sentence = `${name} ${version} answers in ${latency.toFixed(1)} ms.`;
    const [major, minor] = OLDEST[name];
    if (isOlder(version, major, minor))
      return [warning(sentence, `Upgrade it to ${name} ${major}.${minor} or newer.`)];
    if (latency > SLOW_MS) return [warning(sentence, 'Run the service nearer to its database.')];
    return [ok(sentence)];
  }
}

function isOlder(version: string, major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return has < major || (has === major && hasMinor < minor);
}
