import { readFile } from 'node:fs/promises';

export const LICENCES_PAGE = 'docs/licences.md';

/** One version of a package that `npm ci --omit=dev` installs. */
export interface ShippedPackage {
  name: string;
  version: string;
  /** An SPDX expression, or `none`. */
  licence: string;
}

interface Locked {
  version: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
}

interface Manifest {
  license?: string | { type: string };
  licenses?: { type: string }[];
}

/** Every shipped package once, by name and version. @throws when a package that is not optional is not installed */
export async function shippedPackages(): Promise<ShippedPackage[]> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const locked = Object.entries(packages).filter(([folder, { dev }]) => folder !== '' && !dev);
  const all = new Map<string, ShippedPackage>();
  for (const [folder, one] of locked) {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const { version } = one;
    all.set(`${name} ${version}`, { name, version, licence: await licenceOf(folder, one) });
  }
  return [...all]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, shipped]) => shipped);
}

/** The content of docs/licences.md. */
export async function licencesPage(): Promise<string> {
  const packages = await shippedPackages();
  const cells = packages.map(({ name, version, licence }) => [name, version, licence]);
  const rows = [['Package', 'Version', 'Licence'], ...cells];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  const rule = widths.map((width) => '-'.repeat(width));
  return `${INTRODUCTION}\n\n${[head, rule, ...body].map(line).join('\n')}\n`;
}

/** The licence in the manifest of the package, or in the lock file for packages of other platforms. */
async function licenceOf(folder: string, { license, optional }: Locked): Promise<string> {
  try {
    const manifest = JSON.parse(await readFile(`${folder}/package.json`, 'utf8')) as Manifest;
    const [first] = manifest.licenses ?? [];
    if (typeof manifest.license === 'string') return manifest.license;
    return manifest.license?.type ?? first?.type ?? 'none';
  } catch (error) {
    if (optional) return license ?? 'none';
    throw error;
  }
}

const INTRODUCTION = `# Licences

Every package that is shipped with the service, which is what \`npm ci --omit=dev\` installs, with its version and licence. Each
licence lets anybody use, change and distribute the package. The service itself is under the [MIT License](../LICENSE). The image
contains a part of these packages, with their licence texts in \`THIRD-PARTY-LICENCES.txt\`.

This page is generated from \`package-lock.json\` and the packages: \`WRITE_PAGES=1 npx vitest run test/docs/licences\` writes
it. A page that is out of date fails \`npm test\`.`;
