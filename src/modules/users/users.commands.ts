import type { Command } from 'commander';
import { examples, table, type Answer, type RunCommand } from '../../command-line/command.js';
import { numberBetween, textUpTo, webUrl } from '../../command-line/option-values.js';
import type { User } from './user.entity.js';
import type { NewUser } from './users.service.js';

interface AddOptions {
  phone: string;
  name: string;
  neighborhood?: string;
  photoUrl?: string;
  latitude?: number;
  longitude?: number;
}

/** `user add`. Answers the group, for commands that span modules. */
export function addUserCommands(program: Command, run: RunCommand): Command {
  const example = 'user add --phone +14155550101 --name "Ana Lee"';
  const user = program
    .command('user')
    .description('The members of the network who may sign in.')
    .addHelpText('before', examples(example));

  user
    .command('add')
    .description('Add a user.')
    .requiredOption('--phone <number>', 'with country code, such as +14155550101')
    .requiredOption('--name <name>', 'as shown to neighbours', textUpTo(200))
    .option('--neighborhood <name>', 'where posts without a location are placed', textUpTo(200))
    .option('--photo-url <url>', 'http or https', webUrl)
    .option('--latitude <degrees>', 'together with --longitude', numberBetween(-90, 90))
    .option('--longitude <degrees>', 'together with --latitude', numberBetween(-180, 180))
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples(
        example,
        `${example} --neighborhood Riverside --latitude 37.7749 --longitude -122.4194 --json`,
      ),
    )
    .action(async ({ phone: typed, ...rest }: AddOptions, command: Command) => {
      if ((rest.latitude === undefined) !== (rest.longitude === undefined))
        command.error('error: --latitude and --longitude belong together');
      const { parsePhone } = await import('../../common/phone-number.js');
      const phone = parsePhone(typed);
      if (phone === undefined)
        return command.error(
          'error: --phone must be a phone number with its country code, such as +14155550101',
        );
      return run(command, async (session) => {
        const { UsersService } = await import('./users.service.js');
        const { name, ...place } = rest;
        const service = session.get(UsersService);
        return userAnswer(await service.add({ phone, name, ...profileOf(place) }, session.change));
      });
    });
  return user;
}

function profileOf(options: Omit<AddOptions, 'phone' | 'name'>): Partial<NewUser> {
  const { neighborhood, photoUrl, latitude, longitude } = options;
  return {
    ...(neighborhood !== undefined && { neighborhood }),
    ...(photoUrl !== undefined && { photoUrl }),
    ...(latitude !== undefined && { latitude }),
    ...(longitude !== undefined && { longitude }),
  };
}

function userAnswer(user: User): Answer {
  const { id, phone, name, neighborhood, latitude, longitude, status } = user;
  return {
    json: {
      id,
      phone,
      name,
      neighborhood,
      photo_url: user.photoUrl,
      latitude,
      longitude,
      status,
      created_at: user.createdAt.toISOString(),
    },
    text: table([
      ['id', id],
      ['phone', phone],
      ['name', name],
    ]),
  };
}
