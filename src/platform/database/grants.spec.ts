import { missingPrivileges, privilegesOn } from './database-status.js';

const NEEDED = ['SELECT', 'ALTER'];

describe('The privileges on a database', () => {
  it.each([
    ['of the whole server', 'GRANT SELECT, INSERT, ALTER ON *.* TO `u`@`%`', []],
    ['all of them', 'GRANT ALL PRIVILEGES ON `platform`.* TO `u`@`%` WITH GRANT OPTION', []],
    ['some of them', 'GRANT SELECT, INSERT ON `platform`.* TO `u`@`%`', ['ALTER']],
    ['of another database', 'GRANT ALL PRIVILEGES ON `other`.* TO `u`@`%`', NEEDED],
    ['of one table', 'GRANT ALL PRIVILEGES ON `platform`.`users` TO `u`@`%`', NEEDED],
    ['of databases by a pattern', 'GRANT SELECT, ALTER ON `plat%`.* TO `u`@`%`', []],
    ['of another by a pattern', 'GRANT SELECT, ALTER ON `plat_`.* TO `u`@`%`', NEEDED],
    ['to connect', 'GRANT USAGE ON *.* TO `u`@`%`', NEEDED],
  ])('are read: %s', (_title, grant, missing) => {
    expect(missingPrivileges(privilegesOn('platform', [grant]), NEEDED)).toEqual(missing);
  });

  it('take an escaped character of a name for itself', () => {
    const grant = 'GRANT ALL PRIVILEGES ON `a\\_b`.* TO `u`@`%`';
    expect(missingPrivileges(privilegesOn('a_b', [grant]), NEEDED)).toEqual([]);
    expect(missingPrivileges(privilegesOn('axb', [grant]), NEEDED)).toEqual(NEEDED);
  });

  it('add up, and tell of roles', () => {
    const grants = ['GRANT SELECT ON *.* TO `u`@`%`', 'GRANT ALTER ON `platform`.* TO `u`@`%`'];
    const added = privilegesOn('platform', grants);
    expect(missingPrivileges(added, NEEDED)).toEqual([]);
    expect(added.hasRoles).toBe(false);
    expect(privilegesOn('platform', ['GRANT `app`@`%` TO `u`@`%`']).hasRoles).toBe(true);
  });
});
