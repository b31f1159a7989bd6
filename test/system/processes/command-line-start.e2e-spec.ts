import { runCommandProcess } from '../../support/command-line.js';

/** The help must not open a database. */
const NO_DATABASE = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };

describe('Help of the command line as a process', () => {
  it('prints within a second because it does not load the application', async () => {
    let fastest = Infinity;
    // Other tests slow down most runs: one within the limit is enough.
    for (let round = 0; round < 12 && fastest >= 1000; round += 1) {
      const startedAt = performance.now();
      await runCommandProcess(['--help'], NO_DATABASE);
      fastest = Math.min(fastest, performance.now() - startedAt);
    }
    expect(fastest).toBeLessThan(1000);
  }, 60_000);

  it('has no colours', async () => {
    const { stdout } = await runCommandProcess(['--help'], { FORCE_COLOR: '1' });
    expect(stdout).not.toContain('\u001b');
  });
});
