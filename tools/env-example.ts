import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { envSchema } from '../src/platform/config/env.js';

const EXAMPLE = '.env.example';
const README = 'README.md';
const WRITE = 'npm run -s build && node dist/tools/env-example.js --write';

/** The README's table stands between these two lines. */
const START = '<!-- configuration -->';
const END = '<!-- /configuration -->';

const HEAD = `\
# Every setting is optional. Copy this file to .env, take the # off what you change, and start with
#   node --env-file=.env dist/src/bundle/main.js
# Generated from src/platform/config/env.ts by: ${WRITE}
`;

interface Variable {
  name: string;
  description: string;
  /** As it is written in the environment; empty when there is none. */
  default: string;
  /** The words that are allowed, where only some are; what the 0 and 1 of a flag do is in its description. */
  words: readonly string[];
}

/** Every variable of the schema, in its order. */
function variables(): Variable[] {
  const { properties = {} } = z.toJSONSchema(envSchema, { io: 'output', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => {
    const { description, default: value, enum: words } = typeof schema === 'object' ? schema : {};
    if (description === undefined) throw new Error(`${name} has no description.`);
    return {
      name,
      description,
      default: asWritten(value).replaceAll('"', ''),
      words: words?.map(String).filter((word) => !/^[01]$/.test(word)) ?? [],
    };
  });
}

/** A flag is 1 or 0 in the environment. */
function asWritten(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'boolean' ? String(Number(value)) : JSON.stringify(value);
}

/** The text of `.env.example`: each variable commented out, with what it means and its default. */
export function envExample(): string {
  const entries = variables().map(
    ({ name, description, default: value, words }) =>
      `# ${description}${words.length > 0 ? ` One of: ${words.join(', ')}.` : ''}\n# ${name}=${value}\n`,
  );
  return [HEAD, ...entries].join('\n');
}

/** The README's table of the same, with the lines around it. Prettier leaves it alone, since it would pad every row. */
export function configurationTable(): string {
  const rows = variables().map(({ name, description, default: value, words }) => {
    const allowed = words.length > 0 ? ` One of ${words.map(code).join(', ')}.` : '';
    return `| ${code(name)} | ${value === '' ? '' : code(value)} | ${escaped(description)}${allowed} |`;
  });
  return [
    START,
    '<!-- prettier-ignore-start -->',
    '',
    '| Variable | Default | Meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
    '<!-- prettier-ignore-end -->',
    END,
  ].join('\n');
}

/**
 * `readme` with its table replaced by the current one.
 * @throws Error when the lines around the table are not there
 */
export function withConfigurationTable(readme: string): string {
  const start = readme.indexOf(START);
  const end = readme.indexOf(END, start);
  if (start === -1 || end === -1) throw new Error(`${README} has no ${START} and ${END}.`);
  return readme.slice(0, start) + configurationTable() + readme.slice(end + END.length);
}

function code(text: string): string {
  return `\`${text}\``;
}

function escaped(text: string): string {
  return text.replaceAll(/[<>|*]/g, String.raw`\$&`);
}

/** Writes both with `--write`; without, fails when one of them is not what the schema says. */
async function main(): Promise<void> {
  const readme = await readFile(README, 'utf8');
  const wanted = new Map([
    [EXAMPLE, envExample()],
    [README, withConfigurationTable(readme)],
  ]);
  for (const [file, text] of wanted) {
    if (process.argv.includes('--write')) {
      await writeFile(file, text);
      console.log(`Wrote ${file}.`);
    } else if ((await readFile(file, 'utf8').catch(() => '')) === text) {
      console.log(`${file} is current.`);
    } else {
      console.error(`${file} does not say what src/platform/config/env.ts says. Run: ${WRITE}`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
