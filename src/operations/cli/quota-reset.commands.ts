import type { Command } from 'commander';
import { examples, type RunCommand } from '../../command-line/command.js';

/** `quota reset`, which spans apps and quota. */
export function addQuotaResetCommand(quota: Command, run: RunCommand): void {
  quota
    .command('reset')
    .description(
      'Open the current month for every app. For a cron: safe to run twice, late or never, as no count is ever set back.',
    )
    .addHelpText('before', examples('quota reset'))
    .action((_options, command: Command) =>
      run(command, async (session) => {
        const { QuotaReset } = await import('../jobs/quota-reset.service.js');
        const opening = await session.get(QuotaReset).run();
        const { period, opened, previous } = opening;
        return {
          json: opening,
          text: `Opened ${period} for ${opened} apps. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`,
        };
      }),
    );
}
