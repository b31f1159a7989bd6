import { parseArgs } from 'node:util';
import { runSteps } from './steps.js';

/** A built tool that compares a file or, with `--write`, writes it. */
const builtTool = (name) => ({
  needs: 'build',
  check: `node dist/tools/${name}.js`,
  fix: `node dist/tools/${name}.js --write`,
});
const TYPES = 'openapi-typescript openapi/openapi.json --output openapi/types.d.ts';

/** The steps of `npm run check`, in one list for each of two cores. */
const LISTS = [
  [
    { name: 'build', check: 'npm run -s build' },
    { name: 'OpenAPI document', ...builtTool('openapi') },
    { name: 'operations of the client', ...builtTool('client-operations') },
    { name: 'generated pages', ...builtTool('generated-docs') },
    { name: 'compatibility', needs: 'build', check: 'node dist/tools/openapi-changes.js' },
    { name: 'migrations', needs: 'build', check: 'node dist/tools/migrations-check.js' },
    { name: 'types of the document', check: `${TYPES} --check`, fix: TYPES },
    { name: 'rules of the document', check: 'npm run -s lint:openapi' },
    { name: 'format', check: 'npm run -s format:check', fix: 'npm run -s format' },
  ],
  [
    { name: 'packages', check: 'node tools/packages.js bench test/system' },
    { name: 'lint', needs: 'packages', check: 'npm run -s lint', fix: 'npm run -s lint -- --fix' },
    { name: 'types', needs: 'packages', check: 'npm run -s types' },
    { name: 'breaks', check: 'npm run -s breaks -- --check' },
    { name: 'imports', needs: 'packages', check: 'npm run -s deps' },
  ],
];

const { fix = false } = parseArgs({ options: { fix: { type: 'boolean' } } }).values;
const print = (text) => process.stdout.write(text);
process.exitCode = (await runSteps(LISTS, { isFixing: fix, print })) ? 0 : 1;
