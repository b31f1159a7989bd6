import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandTree } from '../../../support/command-line.js';
import type { YearCommands } from './commands.js';
import type { YearTables } from './tables.js';

/** Lines of the imported file. */
const IMPORTED = 10_000;
/** There is no demo. */
const NOT_RUN = ['demo token'];

export interface Timed {
  /** As typed, without ids. */
  command: string;
  seconds: number;
  code: number;
  stderr: string;
}

export interface Subjects {
  userId: string;
  /** The app with most calls. */
  clientId: string;
  testClientId: string;
  /** An access token of another app. */
  token: string;
  /** An hour before the end of the year. */
  since: string;
  folder: string;
}

/** Runs every command of the command line at the end of the year, and measures it. */
export class OperatorCommands {
  readonly timed: Timed[] = [];

  constructor(
    private readonly commands: YearCommands,
    private readonly tables: YearTables,
    private readonly time: Date,
  ) {}

  /** Runs a command, given as words separated by spaces, and more arguments. @returns the result with `--json` */
  private async run(line: string, more: string[] = [], input = ''): Promise<string> {
    const args = [...line.split(' '), ...more];
    const { seconds, code, stdout, stderr } = await this.commands.run(
      this.time,
      [...args, '--json'],
      { input },
    );
    const typed = args
      .map((argument) => (argument.includes(' ') ? `"${argument}"` : argument))
      .join(' ')
      .replaceAll(/\b[a-z_]+_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, '…')
      .replaceAll(/\/\S+\//g, '');
    this.timed.push({ command: typed, seconds, code, stderr });
    process.stdout.write(
      `${seconds.toFixed(1)} s, exit ${code}: ${typed} ${stderr.slice(0, 300)}\n`,
    );
    return stdout;
  }

  private async first(sql: string): Promise<string> {
    const [row] = await this.tables.query<{ id: string }>(`${sql} LIMIT 1`);
    return row?.id ?? 'none';
  }

  async runAll({ userId, clientId, testClientId, token, since, folder }: Subjects): Promise<void> {
    const post = await this.first('SELECT id FROM posts WHERE deleted_at IS NULL ORDER BY id DESC');
    const comment = await this.first(
      'SELECT id FROM comments WHERE deleted_at IS NULL ORDER BY id DESC',
    );
    const grant = await this.first(
      `SELECT id FROM grants WHERE client_id = '${clientId}' AND revoked_at IS NULL ORDER BY id DESC`,
    );
    // Only the first call of a slot began at the time in its id.
    const request = await this.first(
      'SELECT request_id AS id FROM api_calls WHERE at = (SELECT start FROM helper.slots ORDER BY n DESC LIMIT 1)',
    );
    await this.tables.query(
      `INSERT INTO sign_in_sessions (hash, user_id, created_at, expires_at) VALUES (SHA2('session', 256), ?, ?, ? + INTERVAL 10 MINUTE)`,
      [userId, this.time, this.time],
    );
    const file = join(folder, 'members.csv');
    const lines = Array.from(
      { length: IMPORTED },
      (_, number) => `+1415${9_000_000 + number},Neighbour ${number}`,
    );
    await writeFile(file, ['phone,name', ...lines, ''].join('\n'));
    const run = this.run.bind(this);

    await run('db status');
    await run('db check');
    await run('completion bash');
    await run('user add --phone +14155550199 --name', ['Cleo Park']);
    await run('user import', [file, '--dry-run']);
    await run('user import', [file]);
    await run(`user show ${userId}`);
    await run('user list --limit 1000');
    await run(`user search ${userId}`);
    await run('user search', ['Member 99']);
    await run('user search Nobody');
    await run(`user update ${userId} --external-id m-1017`);
    await run(`user block ${userId}`);
    await run(`user unblock ${userId}`);
    await run(`user unlock ${userId}`);
    const sessions = await run(`session list --user ${userId}`);
    const [session] = JSON.parse(sessions || '[]') as { session: string }[];
    await run(`session end ${session?.session} --user ${userId}`);
    await run(`user export ${userId}`);
    await run(`user erase ${userId} --dry-run`);
    for (const by of ['country', 'app', 'result']) await run(`otp report --since 365d --by ${by}`);
    await run('otp pause');
    await run('otp resume');
    await run(`grant list --user ${userId}`);
    await run(`grant list --app ${clientId}`);
    await run(`grant list --app ${clientId} --all --limit 1000`);
    await run(`grant revoke ${grant}`);
    await run('token revoke', [], token);
    await run(
      'app create --redirect-uri https://plums.example/callback --scope posts.read --name',
      ['Plum Exchange'],
    );
    const unused = await this.first(
      `SELECT client_id AS id FROM apps WHERE name = 'Plum Exchange'`,
    );
    await run('app list');
    await run(`app show ${clientId}`);
    await run(`app update ${clientId} --publisher`, ['Garden Ltd']);
    await run(`app secret rotate ${clientId}`);
    const secrets = await run(`app secret list ${clientId}`);
    const [secret] = JSON.parse(secrets || '[]') as { secret_id: string }[];
    await run(`app secret revoke ${clientId} ${secret?.secret_id}`);
    await run(`quota show ${clientId}`);
    await run(`quota set ${clientId} --limit 2000000`);
    await run('quota report');
    await run('quota report --period 2026-12');
    await run('quota reset');
    await run('quota reconcile --period 2026-12');
    await run('usage rollup');
    await run('usage rollup --from 30d');
    for (const by of ['day', 'app', 'route', 'status', 'error'])
      await run(`usage report --since 365d --by ${by}`);
    await run(`usage report --since 365d --app ${clientId}`);
    await run(`post list --since ${since}`);
    await run(`post list --user ${userId}`);
    await run(`post list --since 365d --app ${clientId}`);
    await run(`post list --since 365d --app ${unused}`);
    await run(`post show ${post}`);
    await run(`post remove ${post}`);
    await run(`post restore ${post}`);
    await run(`comment list --since ${since}`);
    await run(`comment list --user ${userId}`);
    await run(`comment list --since 365d --app ${clientId}`);
    await run(`comment list --since 365d --app ${unused}`);
    await run(`comment remove ${comment}`);
    await run('audit list');
    await run('audit list --since 365d --action user.erased');
    await run('audit list --since 365d --actor nobody');
    await run(`audit list --since 365d --app ${clientId}`);
    await run(`audit list --since 365d --user ${userId}`);
    await run(`request list --since ${since}`);
    await run(`request list --since 365d --app ${clientId} --status 503`);
    await run(`request list --since 365d --app ${clientId} --error internal_error`);
    await run(`request list --since 365d --user ${userId}`);
    await run(`request list --since 365d --app ${unused}`);
    await run(`request show ${request}`);
    await run('doctor');
    await run('doctor --fix');
    await run(`user change-phone ${userId} --none`);
    await run(`user revoke-all ${userId}`);
    await run(`user erase ${userId}`);
    await run(`app reset ${testClientId} --dry-run`);
    await run(`app reset ${testClientId}`);
    await run(`app disable ${clientId}`);
    await run(`app enable ${clientId}`);
    await run(`app revoke-all ${clientId}`);
    await run('prune --dry-run');
    await run('prune');
    // Version 1.1.0 would treat test apps and test members as real, so the command refuses while they are enabled.
    await this.tables.query("UPDATE apps SET status = 'disabled' WHERE test = 1");
    await run('db revert 1.1.0');
    await run('db migrate');
  }

  /** Commands of the command line that were not measured. */
  missing(): string[] {
    return commandTree()
      .leaves.map(({ path }) => path)
      .filter((path) => !this.timed.some(({ command }) => `${command} `.startsWith(`${path} `)))
      .filter((path) => !NOT_RUN.includes(path));
  }
}
