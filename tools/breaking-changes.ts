import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A change that could break a client which was written after the older document. */
export interface BreakingChange {
  /** What kind of change it is, as `openapi/accepted-changes.json` names it. */
  rule: string;
  /** JSON pointer into the documents, references resolved. */
  path: string;
  message: string;
}

/** One entry of the report of `redocly diff`. */
interface ReportedChange {
  path: string;
  typeName: string;
  kind: 'added' | 'removed' | 'modified';
  property?: string;
  verdicts: { ruleId: string; impact: 'major' | 'minor' | 'patch'; message: string }[];
  base?: { value: unknown };
  revision?: { value: unknown };
}

interface Scopes {
  components?: {
    securitySchemes?: Record<
      string,
      { flows?: Record<string, { scopes?: Record<string, string> }> }
    >;
  };
}

const REDOCLY = 'node_modules/@redocly/cli/bin/cli.js';
/** New values of an enumeration are additions, which clients must accept. */
const ADDITION = 'enum-values-added';
const OPTIONS = [
  '--config=openapi/redocly.yaml',
  '--format=json',
  '--fail-on=none',
  `--skip-rule=${ADDITION}`,
];
const MOST_OUTPUT_BYTES = 64_000_000;

/**
 * Compares two documents, given as files, after GitHub's lists of breaking and of additive changes. `redocly diff` finds the
 * differences and rates most of them; what it takes lightly and those lists do not is added here.
 * @see https://docs.github.com/en/rest/about-the-rest-api/breaking-changes
 */
export async function breakingChanges(older: string, newer: string): Promise<BreakingChange[]> {
  const changes = await differences(older, newer);
  return [
    ...changes.flatMap((change) => [...rated(change), ...takenLightly(change)]),
    ...(await withdrawnScopes(older, newer)),
  ];
}

/** Whether two documents, given as files, promise the same: they differ in words for people at most. */
export async function promiseTheSame(one: string, other: string): Promise<boolean> {
  const [left, right] = [await readFile(one, 'utf8'), await readFile(other, 'utf8')];
  return withoutProse(left) === withoutProse(right);
}

/** Words for people break nobody, and where they differ much `redocly diff` takes a parameter for another one: it gets none. */
async function differences(older: string, newer: string): Promise<ReportedChange[]> {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const files = [join(folder, 'older.json'), join(folder, 'newer.json')];
    const sources = [older, newer];
    for (const [index, file] of files.entries())
      await writeFile(file, withoutProse(await readFile(sources[index] ?? '', 'utf8')));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [REDOCLY, 'diff', ...files, ...OPTIONS],
      {
        maxBuffer: MOST_OUTPUT_BYTES,
        env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    return (JSON.parse(stdout) as { changes: ReportedChange[] }).changes;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function withoutProse(document: string): string {
  return JSON.stringify(JSON.parse(document), (name, value: unknown) =>
    ['description', 'summary'].includes(name) && typeof value === 'string' ? undefined : value,
  );
}

function rated({ path, verdicts }: ReportedChange): BreakingChange[] {
  return verdicts
    .filter(({ impact }) => impact === 'major')
    .map(({ ruleId: rule, message }) => ({ rule, path, message }));
}

function takenLightly(change: ReportedChange): BreakingChange[] {
  const { path, typeName, kind, verdicts } = change;
  if (verdicts.some(({ impact }) => impact === 'major')) return [];
  if (typeName === 'Schema' && kind === 'removed' && /\/requestBody\/.*\/properties\//.test(path))
    return [{ rule: 'property-removed', path, message: 'A field of a body is gone.' }];
  if (change.property === 'enum' && lostValues(change))
    return [{ rule: 'enum-values-removed', path, message: 'An enumeration lost values.' }];
  if (change.property === 'default' && change.base?.value !== undefined)
    return [{ rule: 'default-changed', path, message: 'What is left out means something else.' }];
  if (typeName === 'Header' && change.property === 'required' && change.base?.value === true)
    return [{ rule: 'response-header-became-optional', path, message: 'A header may be missing.' }];
  if (/^(SecurityRequirement|AuthorizationCode$)/.test(typeName) && kind !== 'added')
    return [{ rule: 'authorization-changed', path, message: 'Who may call has changed.' }];
  return [];
}

function lostValues({ base, revision }: ReportedChange): boolean {
  const left = new Set([revision?.value].flat());
  return [base?.value].flat().some((value) => !left.has(value));
}

async function withdrawnScopes(older: string, newer: string): Promise<BreakingChange[]> {
  const left = new Set(scopesIn(await read(newer)));
  return scopesIn(await read(older))
    .filter((path) => !left.has(path))
    .map((path) => ({ rule: 'scope-removed', path, message: 'A scope is gone.' }));
}

function scopesIn({ components }: Scopes): string[] {
  return Object.entries(components?.securitySchemes ?? {}).flatMap(([scheme, { flows = {} }]) =>
    Object.entries(flows).flatMap(([flow, { scopes = {} }]) =>
      Object.keys(scopes).map(
        (scope) => `#/components/securitySchemes/${scheme}/flows/${flow}/scopes/${scope}`,
      ),
    ),
  );
}

async function read(file: string): Promise<Scopes> {
  return JSON.parse(await readFile(file, 'utf8')) as Scopes;
}
