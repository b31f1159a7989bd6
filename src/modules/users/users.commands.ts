import type { Command } from 'commander';
import { examples, type RunCommand } from '../../command-line/command.js';
import { addUserImportCommand } from './import/user-import.commands.js';
import { ADD_EXAMPLE, addUserAddCommand } from './user-add.commands.js';
import { addUserStatusCommands, SHOW_EXAMPLE } from './user-status.commands.js';

/** `user add|import|show|block|unblock`. Answers the group, for commands that span modules. */
export function addUserCommands(program: Command, run: RunCommand): Command {
  const user = program
    .command('user')
    .description('The members of the network who may sign in.')
    .addHelpText('before', examples(ADD_EXAMPLE, 'user import members.csv', SHOW_EXAMPLE));
  addUserAddCommand(user, run);
  addUserImportCommand(user, run);
  addUserStatusCommands(user, run);
  return user;
}
