import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { type UserWithPhone, UsersService } from '../../src/modules/users/users.service.js';
import { SCOPES } from '../../src/platform/access/scopes.js';
import type { CommandLine } from './command-line.js';
import type { TestApp, TestClient } from './test-app.js';

/** The code of the test members of `addTestMember`. */
export const TEST_CODE = '424242';

/** Registers a confidential test app, as an operator does. */
export async function addTestApp(
  app: TestApp,
  cli: CommandLine,
  ...options: string[]
): Promise<TestClient> {
  const { client_id: clientId = '', client_secret: secret } = await cli.json<
    Record<string, string>
  >(
    ...['app', 'create', '--test', '--name', 'Garden Share', '--allow-similar-name'],
    ...['--redirect-uri', 'https://garden.example/callback', '--scope', SCOPES.join(' ')],
    ...options,
  );
  return { ...(await app.service(AppsService).get(clientId)), secret };
}

/** Adds a test member, as an operator does. @param lastDigits of a number for fiction, such as `42` */
export async function addTestMember(
  app: TestApp,
  cli: CommandLine,
  lastDigits: string,
): Promise<UserWithPhone> {
  const phone = `+141555501${lastDigits}`;
  const { id = '' } = await cli.json<Record<string, string>>(
    ...['user', 'add', '--test', '--phone', phone, '--name', 'Ana Lee', '--code', TEST_CODE],
  );
  return { ...(await app.service(UsersService).get(id)), phone };
}
