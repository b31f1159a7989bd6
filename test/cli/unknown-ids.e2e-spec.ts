import { CommandLine } from '../support/command-line.js';
import { connectMigrated, onOneEngine } from '../support/database.js';

const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';
const USER = 'usr_01h455vb4pex5vsknk084sn02q';
const POST = 'post_01h455vb4pex5vsknk084sn02q';
const COMMENT = 'cmt_01h455vb4pex5vsknk084sn02q';
const GRANT = 'grt_01h455vb4pex5vsknk084sn02q';

const BY_APP = [
  ...['app show ID', 'app enable ID', 'app disable ID', 'app update ID --name Shed'],
  ...['app revoke-all ID', 'app secret list ID', 'app secret rotate ID', 'quota show ID'],
  ...['app secret revoke ID sec_01h455vb4pex5vsknk084sn02q', 'quota set ID --limit 5'],
  ...['grant list --app ID', 'app reset ID'],
];
const BY_USER = [
  ...['user show ID', 'user block ID', 'user unblock ID', 'user unlock ID', 'user erase ID'],
  ...['user export ID', 'user revoke-all ID', 'user update ID --name Ana'],
  ...['session list --user ID', 'session end 0123456789ab --user ID', 'grant list --user ID'],
];

onOneEngine('Commands with an unknown id', (database) => {
  const cli = new CommandLine(database);
  beforeAll(async () => (await connectMigrated(database.url)).destroy());

  it.each([
    ...BY_APP.map((line) => [line, APP, 'There is no app with this client_id. "app list" prints']),
    ...BY_USER.map((line) => [line, USER, 'No user has the id ID.']),
    ...['post show ID', 'post remove ID', 'post restore ID'].map((line) => [
      line,
      POST,
      'There is no post ID',
    ]),
    ['comment remove ID', COMMENT, 'There is no comment ID'],
    ['grant revoke ID', GRANT, 'No grant has the id ID. "grant list --user"'],
  ] as [string, string, string][])('"%s" exits with 1 and names it', async (line, id, sentence) => {
    // An option with a malformed id is a usage error.
    const isOption = /--(app|user) ID/.test(line);
    for (const unknown of isOption ? [id] : [id, "x'OR/1=1"]) {
      const words = line.replace('ID', unknown).split(' ');
      const { code, stdout, stderr } = await cli.run(...words, '--yes');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(sentence.replace('ID', unknown));
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  });
});
