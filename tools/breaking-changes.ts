import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A change that can break a client of the older document. */
export interface BreakingChange {
  /** The kind of change, as in `openapi/accepted-changes.json`. */
  rule: string;
  /** JSON pointer into the documents, with references resolved. */
  path: string;
  message: string;
}

/** One entry in the JSON output of `redocly diff`. */
interface ReportedChange {
  path: string;
  typeName: string;
  kind: 'added' | 'removed' | 'modified';
  property?: string;
  verdicts: { ruleId: string; impact: 'major' | 'minor' | 'patch'; message: string }[];
  base?: { value: unknown };
  revision?: { value: unknown };
}

/** The part of an OpenAPI document that lists the scopes. */
interface ScopedDocument {
  components?: {
    securitySchemes?: Record<
      string,
      { flows?: Record<string, { scopes?: Record<string, string> }> }
    >;
  };
}

const REDOCLY = 'node_modules/@redocly/cli/bin/cli.js';
/** Clients must accept new enumeration values. */
const ALLOWED_RULE = 'enum-values-added';
const OPTIONS = [
  '--config=openapi/redocly.yaml',
  '--format=json',
  '--fail-on=none',
  `--skip-rule=${ALLOWED_RULE}`,
];
const MAX_OUTPUT_BYTES = 64_000_000;

/**
 * Finds breaking changes between two OpenAPI files, by GitHub's definition. `redocly diff` finds and rates the differences;
 * `underratedChanges` adds those that it rates too low, `removedScopes` the removed scopes.
 * @see https://docs.github.com/en/rest/about-the-rest-api/breaking-changes
 */
export async function breakingChanges(older: string, newer: string): Promise<BreakingChange[]> {
  const changes = await differences(older, newer);
  return [
    ...changes.flatMap((change) => [...majorChanges(change), ...underratedChanges(change)]),
    ...(await removedScopes(older, newer)),
  ];
}

/** Whether two OpenAPI files are equal except for descriptions and summaries. */
export async function isSameContract(one: string, other: string): Promise<boolean> {
  const [left, right] = [await readFile(one, 'utf8'), await readFile(other, 'utf8')];
  return withoutDescriptions(left) === withoutDescriptions(right);
}

/** Runs `redocly diff` on copies without descriptions. Otherwise, `redocly diff` would match parameters by their descriptions. */
async function differences(older: string, newer: string): Promise<ReportedChange[]> {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const files = [join(folder, 'older.json'), join(folder, 'newer.json')];
    const sources = [older, newer];
    for (const [index, file] of files.entries())
      await writeFile(file, withoutDescriptions(await readFile(sources[index] ?? '', 'utf8')));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [REDOCLY, 'diff', ...files, ...OPTIONS],
      {
        maxBuffer: MAX_OUTPUT_BYTES,
        env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    return (JSON.parse(stdout) as { changes: ReportedChange[] }).changes;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function withoutDescriptions(document: string): string {
  return JSON.stringify(JSON.parse(document), (name, value: unknown) =>
    ['description', 'summary'].includes(name) && typeof value === 'string' ? undefined : value,
  );
}

function majorChanges({ path, verdicts }: ReportedChange): BreakingChange[] {
  return verdicts
    .filter(({ impact }) => impact === 'major')
    .map(({ ruleId: rule, message }) => ({ rule, path, message }));
}

/** Breaking changes that `redocly diff` rates as minor. */
function underratedChanges(change: ReportedChange): BreakingChange[] {
  const { path, typeName, kind, verdicts } = change;
  if (verdicts.some(({ impact }) => impact === 'major')) return [];
  if (typeName === 'Schema' && kind === 'removed' && /\/requestBody\/.*\/properties\//.test(path))
    return [
      { rule: 'property-removed', path, message: 'A field of the request body was removed.' },
    ];
  if (change.property === 'enum' && hasRemovedValues(change))
    return [{ rule: 'enum-values-removed', path, message: 'Enumeration values were removed.' }];
  if (change.property === 'default' && change.base?.value !== undefined)
    return [{ rule: 'default-changed', path, message: 'A default value has changed.' }];
  if (typeName === 'Header' && change.property === 'required' && change.base?.value === true)
    return [
      {
        rule: 'response-header-became-optional',
        path,
        message: 'A response header is now optional.',
      },
    ];
  if (/^(SecurityRequirement|AuthorizationCode$)/.test(typeName) && kind !== 'added')
    return [
      {
        rule: 'authorization-changed',
        path,
        message: 'The authorization requirements have changed.',
      },
    ];
  return [];
}

function hasRemovedValues({ base, revision }: ReportedChange): boolean {
  const remaining = new Set([revision?.value].flat());
  return [base?.value].flat().some((value) => !remaining.has(value));
}

/** Scopes of the older document that the newer one lacks. */
async function removedScopes(older: string, newer: string): Promise<BreakingChange[]> {
  const remaining = new Set(scopesIn(await read(newer)));
  return scopesIn(await read(older))
    .filter((path) => !remaining.has(path))
    .map((path) => ({ rule: 'scope-removed', path, message: 'A scope was removed.' }));
}

/** A JSON pointer for each scope. */
function scopesIn({ components }: ScopedDocument): string[] {
  return Object.entries(components?.securitySchemes ?? {}).flatMap(([scheme, { flows = {} }]) =>
    Object.entries(flows).flatMap(([flow, { scopes = {} }]) =>
      Object.keys(scopes).map(
        (scope) => `#/components/securitySchemes/${scheme}/flows/${flow}/scopes/${scope}`,
      ),
    ),
  );
}

async function read(file: string): Promise<ScopedDocument> {
  return JSON.parse(await readFile(file, 'utf8')) as ScopedDocument;
}
