import { missingPrivileges, privilegesOn } from './database-status.js';

const NEEDED = ['SELECT', 'ALTER'];

describe('privilegesOn', () => {
  it.each([
    ['on the whole server', 'GRANT SELECT, INSERT, ALTER ON *.* TO `u`@`%`', []],
    [
      'of all privileges on the database',
      'GRANT ALL PRIVILEGES ON `platform`.* TO `u`@`%` WITH GRANT OPTION',
      [],
    ],
    [
      'of some privileges on the database',
      'GRANT SELECT, INSERT ON `platform`.* TO `u`@`%`',
      ['ALTER'],
    ],
    ['on another database', 'GRANT ALL PRIVILEGES ON `other`.* TO `u`@`%`', NEEDED],
    ['on one table', 'GRANT ALL PRIVILEGES ON `platform`.`users` TO `u`@`%`', NEEDED],
    ['on databases that match a pattern', 'GRANT SELECT, ALTER ON `plat%`.* TO `u`@`%`', []],
    ['on another database by a pattern', 'GRANT SELECT, ALTER ON `plat_`.* TO `u`@`%`', NEEDED],
    ['to connect only', 'GRANT USAGE ON *.* TO `u`@`%`', NEEDED],
  ])('parses a grant %s', (_title, grant, missing) => {
    expect(missingPrivileges(privilegesOn('platform', [grant]), NEEDED)).toEqual(missing);
  });

  it('treats an escaped character of a name literally', () => {
    const grant = 'GRANT ALL PRIVILEGES ON `a\\_b`.* TO `u`@`%`';
    expect(missingPrivileges(privilegesOn('a_b', [grant]), NEEDED)).toEqual([]);
    expect(missingPrivileges(privilegesOn('axb', [grant]), NEEDED)).toEqual(NEEDED);
  });

  it('combines grants and detects roles', () => {
    const grants = ['GRANT SELECT ON *.* TO `u`@`%`', 'GRANT ALTER ON `platform`.* TO `u`@`%`'];
    const combined = privilegesOn('platform', grants);
    expect(missingPrivileges(combined, NEEDED)).toEqual([]);
    expect(combined.hasRoles).toBe(false);
    expect(privilegesOn('platform', ['GRANT `app`@`%` TO `u`@`%`']).hasRoles).toBe(true);
  });
});
