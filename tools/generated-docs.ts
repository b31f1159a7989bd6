import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ENV_GROUPS } from '../src/platform/config/env.js';
import { RATE_LIMITS } from '../src/platform/config/rate-limits.js';
import { cliPage } from './cli-page.js';

const EXAMPLE = '.env.example';
const CONFIGURATION = 'docs/configuration.md';
const CLI = 'docs/cli.md';
const WRITE = 'npm run -s build && node dist/tools/generated-docs.js --write';

const EXAMPLE_HEAD = `\
# Every variable is optional. Copy this file to .env, uncomment what you change, and start with
#   node --env-file=.env dist/src/bundle/main.js
# Generated from src/platform/config/env.ts by: ${WRITE}
`;

const PAGE_HEAD = `\
<!-- Generated from src/platform/config/env.ts by: ${WRITE} -->
<!-- prettier-ignore-start -->

# Configuration

The service and the command line read environment variables. Every variable is optional, and an empty one counts as unset. [\`.env.example\`](../.env.example) lists the same variables; \`node --env-file=.env dist/src/bundle/main.js\` reads such a file.

With \`NODE_ENV=production\`, the service refuses to start without \`OTP_PEPPER\`, with a \`PUBLIC_URL\` that is not https, with the console sender, with a gateway over plain http, or with demo data. It reports every problem at once.
`;

interface Variable {
  name: string;
  description: string;
  /** Who changes it, and for what reason. */
  changedBy: string;
  /** As it is written in the environment; empty without a default. */
  default: string;
  /** The allowed words, if only some are. */
  words: readonly string[];
}

function variables(group: Readonly<Record<string, z.ZodType>>): Variable[] {
  return Object.entries(group).map(([name, schema]) => {
    const { description, changedBy } = schema.meta() ?? {};
    if (description === undefined || typeof changedBy !== 'string')
      throw new Error(`${name} is not documented.`);
    const { default: value, enum: words } = z.toJSONSchema(schema, {
      io: 'output',
      unrepresentable: 'any',
    });
    return {
      name,
      description,
      changedBy,
      default: asWritten(value),
      words: words?.map(String).filter((word) => !/^[01]$/.test(word)) ?? [],
    };
  });
}

function asWritten(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The text of `.env.example`: each variable commented out, with its description and default. */
export function envExample(): string {
  const groups = Object.entries(ENV_GROUPS).map(([title, group]) => {
    const entries = variables(group).map(
      ({ name, description, default: value, words }) =>
        `# ${description.replaceAll('`', '')}${words.length > 0 ? ` One of: ${words.join(', ')}.` : ''}\n# ${name}=${value}\n`,
    );
    return [`# ---- ${title} ----\n`, ...entries].join('\n');
  });
  return [EXAMPLE_HEAD, ...groups].join('\n');
}

/** The text of docs/configuration.md. */
export function configurationPage(): string {
  const groups = Object.entries(ENV_GROUPS).map(([title, group]) => {
    const rows = variables(group).map((variable) => [
      code(variable.name),
      variable.default === '' ? '' : code(variable.default),
      escaped(variable.description) +
        (variable.words.length > 0 ? ` One of ${variable.words.map(code).join(', ')}.` : ''),
      variable.changedBy,
    ]);
    return `## ${title}\n\n${table(['Variable', 'Default', 'Meaning', 'Changed by'], rows)}`;
  });
  const limits = Object.entries(RATE_LIMITS).map(([name, [limit, counts]]) => [
    code(name),
    String(limit),
    `${counts[0]?.toUpperCase()}${counts.slice(1)}.`,
  ]);
  return [
    PAGE_HEAD,
    groups.join('\n'),
    '### Names in `RATE_LIMITS`\n',
    'Without a period in its name, a limit counts 15 minutes. Failures and messages are counted for all processes together, calls in each process. Revocation and introspection have limits of their own, equal to those of token requests.\n',
    table(['Name', 'Default', 'Counts'], limits),
    '<!-- prettier-ignore-end -->\n',
  ].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Leaves code spans alone. */
function escaped(text: string): string {
  return text.replaceAll(/`[^`]*`|[<>|*]/g, (part) => (part.length > 1 ? part : `\\${part}`));
}

/** Writes the files with `--write`; without it, fails when one of them is not current. */
async function main(): Promise<void> {
  const files = {
    [EXAMPLE]: envExample(),
    [CONFIGURATION]: configurationPage(),
    [CLI]: await cliPage(),
  };
  for (const [file, text] of Object.entries(files)) {
    if (process.argv.includes('--write')) {
      await writeFile(file, text);
      console.log(`Wrote ${file}.`);
    } else if ((await readFile(file, 'utf8').catch(() => '')) === text) {
      console.log(`${file} is current.`);
    } else {
      console.error(`${file} is not current. Run: ${WRITE}`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
