import { parseDatabaseUrl } from './database-url.js';

const SERVER = { engine: 'server', user: 'app', password: 'pw', database: 'platform' };

describe('parseDatabaseUrl', () => {
  it.each([
    ['sqlite:./data/a,b.sqlite', './data/a,b.sqlite'],
    ['sqlite::memory:', ':memory:'],
    ['sqlite:///var/lib/service.sqlite', '///var/lib/service.sqlite'],
  ])('reads the file of %s', (url, file) => {
    expect(parseDatabaseUrl(url)).toEqual({ engine: 'sqlite', file });
  });

  it.each([
    ['mysql://app:pw@db:3307/platform', [{ host: 'db', port: 3307 }]],
    ['mariadb://app:pw@db.example/platform', [{ host: 'db.example', port: 3306 }]],
    ['mysql://app:pw@[::1]:3306/platform', [{ host: '::1', port: 3306 }]],
    [
      'mysql://app:pw@one:3306,[::1]:3307,two/platform',
      [
        { host: 'one', port: 3306 },
        { host: '::1', port: 3307 },
        { host: 'two', port: 3306 },
      ],
    ],
  ])('reads the servers of %s', (url, servers) => {
    expect(parseDatabaseUrl(url)).toEqual({ ...SERVER, servers });
  });

  it('decodes user, password and database (RFC 3986 §2.4)', () => {
    const special = '@:/#?%,[] ü';
    const encoded = encodeURIComponent(special);
    expect(parseDatabaseUrl(`mysql://${encoded}:${encoded}@db/${encoded}`)).toMatchObject({
      user: special,
      password: special,
      database: special,
      servers: [{ host: 'db', port: 3306 }],
    });
  });

  it.each(['mysql://app@db/platform', 'mysql://app:@db/platform'])(
    'accepts an empty password in %s',
    (url) => {
      expect(parseDatabaseUrl(url)).toMatchObject({ user: 'app', password: '' });
    },
  );

  it.each([
    ['postgres://app:pw@db/platform', 'must start with sqlite:, mysql:// or mariadb://'],
    ['mysql:app:pw@db/platform', 'must start with'],
    ['', 'must start with'],
    ['mysql://app:pw@db:3306', 'must name a database'],
    ['mysql://app:pw@db/', 'must name a database'],
    ['mysql://db/platform', 'must name a user'],
    ['mysql://:pw@db/platform', 'must name a user'],
    ['mysql://app:pw@/platform', 'must name each server'],
    ['mysql://app:pw@one,/platform', 'must name each server'],
    ['mysql://app:pw@::1/platform', 'IPv6 addresses in brackets'],
    ['mysql://app:pw@[db]/platform', 'IPv6 addresses in brackets'],
    ['mysql://app:pw@one,two:x/platform', 'must name each server'],
    ['mysql://app:pw@db:0/platform', 'must use a port from 1 to 65535'],
    ['mysql://app:pw@db:65536/platform', 'must use a port from 1 to 65535'],
    ['mysql://app:p@w@db/platform', 'percent-encode'],
    ['mysql://app:p/w@db/platform', 'percent-encode'],
    ['mysql://app:p#w@db/platform', 'percent-encode'],
    ['mysql://app:p:w@db/platform', 'percent-encode'],
    ['mysql://app:p%w@db/platform', 'percent-encode % in user, password and name as %25'],
    ['mysql://app:pw@db/platform/two', 'must look like'],
    ['mysql://app:pw@db/platform?ssl=true', 'set DATABASE_SSL'],
    ['mysql://app:pw@db/platform?ssl={"rejectUnauthorized":true}', 'set DATABASE_SSL'],
    ['mysql://app:pw@db/platform?ssl-mode=REQUIRED', 'set DATABASE_SSL'],
    ['mysql://app:pw@db/platform?charset=latin1', 'must not have parameters'],
    ['sqlite:', 'must be sqlite:<path>'],
    ['sqlite://data.sqlite', 'must be sqlite:<path>'],
    ['sqlite:./data.sqlite?mode=ro', 'must be sqlite:<path>'],
  ])('rejects %s, without the password', (url, problem) => {
    const parse = (): unknown => parseDatabaseUrl(url);
    expect(parse).toThrow(problem);
    expect(parse).toThrow(/^(?!.*p.w\b)/s);
  });
});
