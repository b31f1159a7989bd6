import { runCommandProcess } from '../../support/command-line.js';

/** The help must not open a database. */
const NO_DATABASE = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };

describe('Help of the command line as a process', () => {
  it('prints within a second because it does not load the application', async () => {
    const durations: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now();
      await runCommandProcess(['--help'], NO_DATABASE);
      durations.push(performance.now() - started);
    }
    // The fastest run, because other tests may slow down the others.
    expect(Math.min(...durations)).toBeLessThan(1000);
  });

  it('has no colours', async () => {
    const { stdout } = await runCommandProcess(['--help'], { FORCE_COLOR: '1' });
    expect(stdout).not.toContain('\u001b');
  });
});
