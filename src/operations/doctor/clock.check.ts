import { Injectable } from '@nestjs/common';
import { ClockSkew } from '../health/clock-skew.js';
import { failed, ok, type Check, type Finding } from './check.js';

/** Whether this machine and the database agree on the time. */
@Injectable()
export class ClockCheck implements Check {
  readonly name = 'clock';

  constructor(private readonly clockSkew: ClockSkew) {}

  async run(): Promise<Finding[]> {
    const problem = await this.clockSkew.problem();
    if (problem === undefined) return [ok('The clock agrees with the database.')];
    const [what = '', remedy] = problem.split(': ');
    return [failed(`${sentence(what)}.`, remedy && `${sentence(remedy)}.`)];
  }
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
