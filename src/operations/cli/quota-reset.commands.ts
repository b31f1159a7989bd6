import type { Command } from 'commander';
import { examples, type RunCommand } from '../../command-line/command.js';
import { textUpTo } from '../../command-line/option-values.js';
import { QUOTA_RESET } from '../jobs/job-names.js';

/** `quota reset`, which spans apps and quota. */
export function addQuotaResetCommand(quota: Command, run: RunCommand): void {
  quota
    .command('reset')
    .summary('Open the current month, and close the months before.')
    .description(
      'Open the current month for every app, and write down under which plan and limit each one ended the months before. The service does it once a month by itself; this works at any time, whether it has or not. For a cron: safe to run twice, late or never, as no count is ever set back.',
    )
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText('before', examples('quota reset'))
    .action((_options, command: Command) =>
      run(command, async (session) => {
        const [{ QuotaReset, resetSentence }, { JobsByHand }] = await Promise.all([
          import('../jobs/quota-reset.service.js'),
          import('../jobs/jobs-by-hand.service.js'),
        ]);
        const month = await session
          .get(JobsByHand)
          .run(QUOTA_RESET, session.change, () => session.get(QuotaReset).run());
        return { json: month, text: resetSentence(month) };
      }),
    );
}
