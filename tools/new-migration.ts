import { readFile, writeFile } from 'node:fs/promises';

const LIST = 'src/platform/database/migrations/list.ts';

/** `npm run db:new <PascalName>`: adds an empty migration and names it in the list. */
async function main(): Promise<void> {
  const [name] = process.argv.slice(2);
  if (name === undefined || !/^([A-Z][a-z0-9]*)+$/.test(name)) {
    console.error(
      'Give the migration a name in PascalCase, such as: npm run db:new AddPostLanguage',
    );
    process.exitCode = 2;
    return;
  }
  const stamp = Date.now();
  const type = `${name}${stamp}`;
  await writeFile(`src/platform/database/migrations/${stamp}-${name}.ts`, source(type));
  const list = await readFile(LIST, 'utf8');
  await writeFile(LIST, listed(list, type, `./${stamp}-${name}.js`));
  console.log(
    `Wrote src/platform/database/migrations/${stamp}-${name}.ts and named it in ${LIST}.`,
  );
}

function source(type: string): string {
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${type} implements MigrationInterface {
  readonly name = '${type}';

  async up(_queryRunner: QueryRunner): Promise<void> {
    throw new Error('${type}.up is not written yet.');
  }

  async down(_queryRunner: QueryRunner): Promise<void> {
    throw new Error('${type}.down is not written yet.');
  }
}
`;
}

function listed(list: string, type: string, path: string): string {
  return list
    .replace(/(import [^\n]+\n)(?!import)/, `$1import { ${type} } from '${path}';\n`)
    .replace(/\]; *$/m, `, ${type}];`);
}

await main();
