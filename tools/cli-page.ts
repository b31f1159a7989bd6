import { Readable } from 'node:stream';
import { commandLine, runCommandLine } from '../src/cli/program.js';

const HEAD = `\
<!-- Generated from src/cli by: npm run -s build && node dist/tools/generated-docs.js --write -->
<!-- prettier-ignore-start -->

# Command line

After \`npm run build\`, \`npm run -s cli -- COMMAND\` runs a command on the database in \`DATABASE_URL\`. In the container image, use \`node dist/src/bundle/cli.js COMMAND\`. Results go to standard output, messages to standard error.

Every command accepts \`--json\` (print one JSON value), \`--actor NAME\` (name to record in the audit log; your user name by default), \`--version\` and \`--help\`.

| Exit code | Meaning |
| --- | --- |
| 0 | success |
| 1 | failure; standard error has the reason |
| 2 | usage error |
| 130 | interrupted with Ctrl-C |

## First commands

Common commands:

\`\`\`sh
npm run -s cli -- app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.read"
npm run -s cli -- app create --name "Garden Share on iOS" --public --redirect-uri com.example.garden:/callback --scope "posts.read posts.write"
npm run -s cli -- app list
npm run -s cli -- app disable svc_app_… --yes
npm run -s cli -- app secret rotate svc_app_… --grace 24h --yes
npm run -s cli -- quota set svc_app_… --limit 500 --yes --reason "Launch month"
npm run -s cli -- quota show svc_app_… --json
npm run -s cli -- user add --phone +14155550103 --name "Cleo Park" --neighborhood Riverside
npm run -s cli -- user show --phone +14155550103
npm run -s cli -- db status
npm run -s cli -- db check
npm run -s cli -- prune --dry-run
npm run -s cli -- audit list --since 24h
npm run -s cli -- doctor
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
