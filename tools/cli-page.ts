import { Readable } from 'node:stream';
import { commandLine, runCommandLine } from '../src/cli/program.js';

const HEAD = `\
<!-- Generated from src/cli by: npm run -s build && node dist/tools/generated-docs.js --write -->
<!-- prettier-ignore-start -->

# Command line

\`devplatform COMMAND\` runs a command on the database in \`DATABASE_URL\`. The program is on the \`PATH\` of the container image. In a checkout, after \`npm run build\`, \`npm run -s cli -- COMMAND\` is the same, and \`npm link\` installs the program. Results go to standard output, messages to standard error.

Every command accepts \`--json\` (print one JSON value), \`--actor NAME\` (name to record in the audit log; your user name by default), \`--yes\`, \`--version\` and \`--help\`, before or after the name of the command. Commands that take access or data away ask for confirmation at a terminal, and their help says so. \`prune\` never asks, because it deletes only expired data. \`--yes\` confirms in advance, and is required without a terminal. Commands that never ask accept it as well, so that a script can always pass it. Commands that may delete or revoke many rows accept \`--dry-run\`, which shows what they would change.

| Exit code | Meaning |
| --- | --- |
| 0 | success |
| 1 | failure; standard error has the reason |
| 2 | usage error |
| 130 | interrupted with Ctrl-C |
| 143 | ended by SIGTERM |

## JSON output

With \`--json\`, a command prints one JSON value, and no notes. The help of each command names its members after \`JSON:\`. Brackets mark a list of objects, \`?\` marks a member that is not always present, and \`…\` stands for members that vary. If \`dry_run\` is true, the other members say what the command would change.

Within a major version:

- Names of members and the types of their values stay. New members and new values of enumerations may be added: ignore what you do not know.
- Times are ISO 8601 in UTC, such as \`2026-12-01T00:00:00.000Z\`. Ids are strings.
- A member without a value is \`null\` or absent.
- The exit codes are those above. An error is text on standard error.

\`devplatform quota show svc_app_01h455vb4pex5vsknk084sn02q --json\` prints one line:

\`\`\`json
{"client_id":"svc_app_01h455vb4pex5vsknk084sn02q","plan":"default","limit":100,"used":7,"remaining":93,"period":"2026-11","resets_at":"2026-12-01T00:00:00.000Z"}
\`\`\`

Text output is for people and may change. At a terminal, lists fit its width, and times also show how long ago they were. In a pipe or a file, no value is cut. All times are UTC.

## First commands

Common commands:

\`\`\`sh
devplatform app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.read"
devplatform app create --name "Garden Share on iOS" --public --redirect-uri com.example.garden:/callback --scope "posts.read posts.write"
devplatform app list
devplatform app disable svc_app_… --yes
devplatform app secret rotate svc_app_… --grace 24h --yes
devplatform quota set svc_app_… --limit 500 --yes --reason "Launch month"
devplatform quota show svc_app_… --json
devplatform user add --phone +14155550103 --name "Cleo Park" --neighborhood Riverside
devplatform user show --phone +14155550103
devplatform db status
devplatform db check
devplatform prune --dry-run
devplatform audit list --since 24h
devplatform doctor
\`\`\`

A client secret is printed only once, when you create the app or rotate its secret. Public apps have none.

## All commands
`;

interface Entry {
  path: string;
  summary: string;
}

/** The text of docs/cli.md: every command with its help. */
export async function cliPage(): Promise<string> {
  const silent = { write: () => undefined };
  const program = commandLine({
    env: {},
    stdin: Readable.from([]),
    stdout: silent,
    stderr: silent,
  });
  const entries = entriesOf(program.commands, '');
  const width = Math.max(...entries.map(({ path }) => path.length));
  const overview = entries.map(({ path, summary }) => `${path.padEnd(width)}  ${summary}\n`);
  const parts = await Promise.all(
    entries.map(async ({ path }) => `### ${path}\n\n${fenced(await helpOf(path))}`),
  );
  return [HEAD, fenced(overview.join('')), ...parts, '<!-- prettier-ignore-end -->\n'].join('\n');
}

type Commands = ReturnType<typeof commandLine>['commands'];

/** The commands, including those in groups, without the groups themselves. */
function entriesOf(commands: Commands, group: string): Entry[] {
  return commands.flatMap((command) => {
    const path = `${group} ${command.name()}`.trim();
    return command.commands.length > 0
      ? entriesOf(command.commands, path)
      : [{ path, summary: command.summary() || command.description() }];
  });
}

async function helpOf(path: string): Promise<string> {
  let printed = '';
  const stdout = { write: (text: string) => (printed += text) };
  const context = { env: {}, stdin: Readable.from([]), stdout, stderr: stdout };
  await runCommandLine([...path.split(' '), '--help'], context);
  // Global options are the same for every command.
  return printed.replace(/\nGlobal Options:\n[^]*$/, '');
}

function fenced(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}
