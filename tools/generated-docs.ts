import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ENV_GROUPS } from '../src/platform/config/env.js';
import { RATE_LIMITS } from '../src/platform/config/rate-limits.js';
import { TWILIO_ERRORS } from '../src/modules/oauth/sign-in/sms/twilio.js';
import { cliPage } from './cli-page.js';
import { phoneNumbersPage } from './phone-numbers-page.js';

const EXAMPLE = '.env.example';
const CONFIGURATION = 'docs/configuration.md';
const CLI = 'docs/cli.md';
const MESSAGES = 'docs/operate/messages.md';
const PHONE_NUMBERS = 'docs/phone-numbers.md';
const WRITE_COMMAND = 'npm run -s build && node dist/tools/generated-docs.js --write';

const EXAMPLE_HEAD = `\
# Outside of production, every variable is optional with the default SMS_SENDER.
# Copy this file to .env, uncomment the variables to change, and run
#   node --env-file=.env dist/src/bundle/main.js
# Leave texts in quotes: Node.js and shells read an unquoted # differently.
# Generated from src/platform/config/env.ts by: ${WRITE_COMMAND}
`;

const PAGE_HEAD = `\
<!-- Generated from src/platform/config/env.ts and src/platform/config/rate-limits.ts by: ${WRITE_COMMAND} -->
<!-- prettier-ignore-start -->

# Configuration

The service and the command line read environment variables. Outside of production, every variable is optional with the default \`SMS_SENDER\`. An empty variable counts as unset. [\`.env.example\`](../.env.example) lists the same variables. To use such a file, run \`node --env-file=.env dist/src/bundle/main.js\`.

With \`NODE_ENV=production\`, the service requires \`OTP_PEPPER\` and an https \`PUBLIC_URL\`. It rejects the console SMS sender, an SMS gateway over plain http, and demo data. It reports all problems together.

\`DATABASE_URL\`, \`OTP_PEPPER\`, \`SMS_WEBHOOK_SECRET\`, \`TWILIO_API_SECRET\` and \`TWILIO_AUTH_TOKEN\` can also be read from files: set \`DATABASE_URL_FILE\` and so on to the path, and leave the variable itself unset. A line break at the end of the file is ignored.
`;

interface Variable {
  name: string;
  description: string;
  /** Which operators or installations need to change the variable. */
  changedBy: string;
  /** As written in the environment; empty without a default. */
  default: string;
  /** Whether the value is text, which may contain `#`. */
  isText: boolean;
  /** The allowed values of an enumeration, else empty. Also empty for a flag (0 or 1), whose description says what 1 does. */
  values: readonly string[];
}

function variables(group: Readonly<Record<string, z.ZodType>>): Variable[] {
  return Object.entries(group).map(([name, schema]) => {
    const { description, changedBy } = schema.meta() ?? {};
    if (description === undefined || typeof changedBy !== 'string')
      throw new Error(`${name} is not documented.`);
    const jsonSchema = (io: 'input' | 'output') =>
      z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    const { default: value, enum: allowed, type } = jsonSchema('output');
    return {
      name,
      description,
      changedBy,
      default: environmentValue(value ?? jsonSchema('input').default),
      isText: allowed === undefined && type !== 'number',
      values: allowed?.map(String).filter((one) => !/^[01]$/.test(one)) ?? [],
    };
  });
}

function environmentValue(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The text of `.env.example`: each variable commented out, with its description and default. */
export function envExample(): string {
  const groups = Object.entries(ENV_GROUPS).map(([title, group]) => {
    const entries = variables(group).map(
      ({ name, description, default: value, values, isText }) =>
        `# ${description.replaceAll('`', '')}${values.length > 0 ? ` One of: ${values.join(', ')}.` : ''}\n# ${name}=${isText ? `'${value}'` : value}\n`,
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
      escapeMarkdown(variable.description) +
        (variable.values.length > 0 ? ` One of ${variable.values.map(code).join(', ')}.` : ''),
      variable.changedBy,
    ]);
    return `## ${title}\n\n${table(['Variable', 'Default', 'Meaning', 'Changed by'], rows)}`;
  });
  const limits = Object.entries(RATE_LIMITS).map(([name, [limit, , counts]]) => [
    code(name),
    String(limit),
    `${counts[0]?.toUpperCase()}${counts.slice(1)}.`,
  ]);
  return [
    PAGE_HEAD,
    groups.join('\n'),
    '### Names in `RATE_LIMITS`\n',
    'A limit whose name does not end in `-per-minute`, `-per-hour` or `-per-day` applies to 15 minutes, except `grants-per-user`. Failures, messages and grants are counted across all processes, calls in each process. Revocation and introspection have separate limits with the values for token requests.\n',
    table(['Name', 'Default', 'Counts'], limits),
    '<!-- prettier-ignore-end -->\n',
  ].join('\n');
}

/** The page about text messages with the current table of the codes of Twilio. */
export function messagesPage(page: string): string {
  const rows = Object.entries(TWILIO_ERRORS).map(([number, { meaning, retry, remedy }]) => [
    code(number),
    `${meaning[0]?.toUpperCase()}${meaning.slice(1)}.`,
    retry ? 'yes' : 'no',
    `${remedy.replaceAll(/\b(?:OTP|TWILIO)_[A-Z_]+/g, code)}.`,
  ]);
  const head = ['Code', 'Meaning', 'Sent again', 'What to do'];
  // A replacement text would interpret dollar signs.
  return page.replace(
    /(?<=sms\/twilio\.ts by: .*\n<!-- prettier-ignore-start -->\n).*?(?=<!-- prettier-ignore-end -->)/s,
    () => `\n${table(head, rows)}\n`,
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Escapes Markdown characters outside of code spans. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/`[^`]*`|[<>|*]/g, (part) => (part.length > 1 ? part : `\\${part}`));
}

/** Writes the files with `--write`; without it, fails if one of them is outdated. */
async function main(): Promise<void> {
  const files = {
    [EXAMPLE]: envExample(),
    [CONFIGURATION]: configurationPage(),
    [CLI]: await cliPage(),
    [MESSAGES]: messagesPage(await readFile(MESSAGES, 'utf8').catch(() => '')),
    [PHONE_NUMBERS]: phoneNumbersPage(),
  };
  for (const [file, text] of Object.entries(files)) {
    if (process.argv.includes('--write')) {
      await writeFile(file, text);
      console.log(`Wrote ${file}.`);
    } else if ((await readFile(file, 'utf8').catch(() => '')) === text) {
      console.log(`${file} is up to date.`);
    } else {
      console.error(`${file} is outdated. Run: ${WRITE_COMMAND}`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
