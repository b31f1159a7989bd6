import { randomBytes } from 'node:crypto';
import { cleanUp } from './background.js';
import { runSql } from './sql.js';

/** A database and a user with the same name, who is no administrator, so that the server runs `init_connect` for connections. */
export interface OrdinaryUser {
  name: string;
  url: string;
  drop: () => Promise<void>;
}

export async function ordinaryUser(serverUrl: string): Promise<OrdinaryUser> {
  const name = `platform_test_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await runSql(serverUrl, `CREATE DATABASE ${name} CHARACTER SET latin1`);
  await runSql(serverUrl, `CREATE USER ${name}@'%' IDENTIFIED BY '${password}'`);
  await runSql(serverUrl, `GRANT ALL ON ${name}.* TO ${name}@'%'`);
  // For the schema that the tests copy.
  await runSql(serverUrl, `GRANT SELECT ON *.* TO ${name}@'%'`);
  const url = new URL(serverUrl);
  Object.assign(url, { username: name, password, pathname: `/${name}` });
  const drop = (): Promise<void> =>
    cleanUp(
      () => runSql(serverUrl, `DROP USER ${name}@'%'`),
      () => runSql(serverUrl, `DROP DATABASE ${name}`),
    );
  return { name, url: url.href, drop };
}
