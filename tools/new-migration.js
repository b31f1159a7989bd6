import { readFile, writeFile } from 'node:fs/promises';

const LIST = 'src/platform/database/migrations/list.ts';

/** `npm run db:new <Name>` adds an empty migration and registers it in the list of migrations. It needs no build. */
async function main() {
  const [name] = process.argv.slice(2);
  if (name === undefined || !/^([A-Z][a-z0-9]*)+$/.test(name)) {
    console.error(
      'The migration needs a name in PascalCase, for example: npm run db:new AddPostLanguage',
    );
    process.exitCode = 2;
    return;
  }
  const timestamp = Date.now();
  const className = `${name}${timestamp}`;
  await writeFile(`src/platform/database/migrations/${timestamp}-${name}.ts`, source(className));
  const list = await readFile(LIST, 'utf8');
  await writeFile(LIST, withMigration(list, className, `./${timestamp}-${name}.js`));
  console.log(
    `Wrote src/platform/database/migrations/${timestamp}-${name}.ts and added it to ${LIST}.`,
  );
}

function source(className) {
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${className} implements MigrationInterface {
  readonly name = '${className}';

  async up(_queryRunner: QueryRunner): Promise<void> {
    throw new Error('${className}.up is not implemented.');
  }

  async down(_queryRunner: QueryRunner): Promise<void> {
    throw new Error('${className}.down is not implemented.');
  }
}
`;
}

function withMigration(list, className, path) {
  return list
    .replace(/(import [^\n]+\n)(?!import)/, `$1import { ${className} } from '${path}';\n`)
    .replace('\n];', `\n  ${className},\n];`);
}

await main();
