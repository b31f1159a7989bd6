import type { Command } from 'commander';
import { examples, type RunCommand } from '../../command-line/command.js';
import { textUpTo } from '../../command-line/option-values.js';
import { table } from '../../command-line/tables.js';
import { userJson } from './user-answer.js';
import { PHONE_WANTED, readers } from './user-fields.js';
import type { NewUser } from './users.service.js';

export const ADD_EXAMPLE = 'user add --phone +14155550101 --name "Ana Lee"';

interface AddOptions {
  phone: string;
  name: string;
  neighborhood?: string;
  photoUrl?: string;
  latitude?: number;
  longitude?: number;
}

/** `user add`. */
export function addUserAddCommand(user: Command, run: RunCommand): void {
  user
    .command('add')
    .description('Add a user. Refused when another user has the phone.')
    .requiredOption('--phone <number>', 'with country code, such as +14155550101')
    .requiredOption('--name <name>', 'as shown to neighbours', readers.name)
    .option(
      '--neighborhood <name>',
      'where posts without a location are placed',
      readers.neighborhood,
    )
    .option('--photo-url <url>', 'http or https', readers.photo_url)
    .option('--latitude <degrees>', 'together with --longitude', readers.latitude)
    .option('--longitude <degrees>', 'together with --latitude', readers.longitude)
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples(
        ADD_EXAMPLE,
        `${ADD_EXAMPLE} --neighborhood Riverside --latitude 37.7749 --longitude -122.4194 --json`,
      ),
    )
    .action(async ({ phone: typed, ...rest }: AddOptions, command: Command) => {
      if ((rest.latitude === undefined) !== (rest.longitude === undefined))
        command.error('error: --latitude and --longitude belong together');
      const { parsePhone } = await import('../../common/phone-number.js');
      const phone = parsePhone(typed);
      if (phone === undefined) return command.error(`error: --phone ${PHONE_WANTED}`);
      return run(command, async (session) => {
        const { UsersService } = await import('./users.service.js');
        const { name, ...place } = rest;
        const service = session.get(UsersService);
        const added = await service.add({ phone, name, ...profileOf(place) }, session.change);
        return {
          json: userJson(added, phone),
          text: table([
            ['id', added.id],
            ['phone', phone],
            ['name', name],
          ]),
        };
      });
    });
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
