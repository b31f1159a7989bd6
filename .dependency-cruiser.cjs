/**
 * Import rules, explained in docs/architecture.md; `npm run deps` fails on any other import.
 * Each list names what its folder may import besides itself.
 */
const layers = {
  platform: [],
  pages: ['platform'],
  modules: ['pages', 'platform'],
  docs: ['modules', 'pages', 'platform'],
  cli: ['modules', 'pages', 'platform'],
};

/** Folders of `src/platform`, from the bottom up. Files beside them import nothing but each other. */
const platform = {
  config: [],
  database: ['config'],
  http: ['config', 'database'],
  access: ['config', 'http'],
  observability: ['config', 'database', 'http', 'access'],
  audit: ['config', 'database'],
  lifecycle: ['config', 'database', 'audit', 'http', 'access', 'observability'],
};

/** A module lists the modules whose services it may use. */
const modules = {
  users: [],
  events: [],
  quota: ['events'],
  oauth: ['users', 'quota', 'events'],
  posts: ['users', 'quota', 'events'],
  comments: ['users', 'posts', 'events'],
  webhooks: ['comments', 'events'],
  analytics: ['posts'],
  demo: ['users', 'oauth', 'posts', 'comments', 'quota', 'analytics'],
  operations: ['users', 'oauth', 'posts', 'comments', 'quota', 'demo', 'events', 'webhooks'],
};

/** Folders of `src/modules/oauth`, from the bottom up. */
const oauth = {
  protocol: [],
  'rate-limit': ['protocol'],
  browser: ['protocol', 'rate-limit'],
  clients: ['protocol', 'rate-limit'],
  tokens: ['protocol', 'rate-limit', 'clients'],
  'sign-in': ['protocol', 'rate-limit', 'browser', 'clients'],
  authorize: ['protocol', 'rate-limit', 'browser', 'clients', 'tokens', 'sign-in'],
  account: ['protocol', 'rate-limit', 'browser', 'clients', 'tokens', 'sign-in', 'authorize'],
};

/** Which rows expire, which belong to a person or to a test app, and which are counted. */
const tablesOfAllModules =
  '^src/modules/operations/(retention|personal-data|app-reset|counters|counted-rows)\\.ts$';

/** Where TypeORM may be imported. */
const ormFiles = [
  '\\.(entity|entities)\\.ts$',
  '\\.repository\\.ts$',
  tablesOfAllModules,
  '^src/platform/database/',
  '^tools/',
  '^ormconfig\\.ts$',
  '^test/',
];

/** The files of a module that other modules may import. Types may come from any file. */
const publicFiles =
  '\\.(module|service|errors|entity|entities|middleware)\\.ts$|/(grants|token-issuer|event-types|user-fields|quota-period|phone-number|test-members|phone-limits|(post|comment)\\.response|twilio|one-time-password-message)\\.ts$';

const exceptTypes = { dependencyTypesNot: ['type-only'] };

/** A rule for each folder of `parent`: the folder may import itself and the folders that `allowedOf` lists for it. */
const folders = (parent, allowedOf, comment) =>
  Object.entries(allowedOf).map(([name, allowed]) => ({
    name: `${parent.split('/').at(-1)}-${name}`,
    comment: `${parent}/${name} may import: ${allowed.join(', ') || 'none of its neighbours'}. ${comment}`,
    severity: 'error',
    from: { path: `^${parent}/${name}/`, pathNot: '\\.spec\\.ts$' },
    to: { path: `^${parent}/[^/]+/`, pathNot: `^${parent}/(${[name, ...allowed].join('|')})/` },
  }));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'No cycles.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment:
        'A file that nothing imports is unused, unless it is a program, a script of a page, a test or a tool.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '\\.(spec|e2e-spec|db-spec|browser-spec)\\.ts$',
          '^src/(main|cli)\\.ts$',
          '^src/pages/(code|consent|guide)\\.js$',
          '^tools/',
          '^examples/',
          '^(ormconfig|rolldown\\.config)\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'Every import can be resolved.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages-in-src',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], ...exceptTypes },
    },
    ...folders('src', layers, 'The order of the layers.'),
    ...folders('src/platform', platform, 'The order inside the platform.'),
    {
      name: 'platform-root',
      comment: 'Files at the top of src/platform are the bottom: they import none of its folders.',
      severity: 'error',
      from: { path: '^src/platform/[^/]+\\.ts$', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/platform/[^/]+/' },
    },
    ...folders('src/modules', modules, 'A module uses the services of those that it lists.'),
    ...folders('src/modules/oauth', oauth, 'The order inside the authorization server.'),
    {
      name: 'oauth-root',
      comment: 'Only the files at the top of src/modules/oauth use all of its folders.',
      severity: 'error',
      from: { path: '^src/modules/oauth/[^/]+/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/modules/oauth/[^/]+\\.ts$' },
    },
    {
      name: 'public-files-of-modules',
      comment:
        "Across modules: the module, its services, its errors, and types. A join may name the other module's entity.",
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: { path: '^src/modules/', pathNot: [`^src/modules/$1/`, publicFiles], ...exceptTypes },
    },
    {
      name: 'foreign-entities-only-in-joins',
      severity: 'error',
      from: {
        path: '^src/modules/([^/]+)/',
        pathNot: ['\\.repository\\.ts$', tablesOfAllModules],
      },
      to: {
        path: '^src/modules/.*\\.(entity|entities)\\.ts$',
        pathNot: '^src/modules/$1/',
        ...exceptTypes,
      },
    },
    {
      name: 'platform-root-without-framework',
      severity: 'error',
      from: { path: '^src/platform/[^/]+\\.ts$', pathNot: '\\.spec\\.ts$' },
      to: {
        path: 'node_modules/(@nestjs|express|typeorm|class-validator|class-transformer|rxjs|commander)/',
      },
    },
    {
      name: 'typeorm-imports',
      comment:
        'Only entities, repositories, the tables of operations and src/platform/database import TypeORM.',
      severity: 'error',
      from: { path: '^(src|ormconfig)', pathNot: ormFiles },
      to: { path: 'node_modules/(typeorm|@nestjs/typeorm)/' },
    },
    {
      name: 'services-without-http',
      comment: 'Services and repositories do not depend on HTTP.',
      severity: 'error',
      from: { path: '^src/modules/.*\\.(service|repository)\\.ts$' },
      to: {
        path: '(\\.(request|response)\\.ts$|^src/platform/http/(errors|server|validation)/|node_modules/(express|@nestjs/swagger)/)',
        ...exceptTypes,
      },
    },
    {
      name: 'controllers-use-services',
      comment: 'Controllers use services, not repositories.',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: '\\.(repository|entity|entities)\\.ts$', ...exceptTypes },
    },
    {
      name: 'root-is-on-top',
      comment: 'Only tools and tests import the composition root.',
      severity: 'error',
      from: { path: '^src/(platform|pages|modules|docs|cli)/' },
      to: { path: '^src/[^/]+\\.ts$', pathNot: '^src/app\\.module\\.ts$' },
    },
    {
      name: 'client-alone',
      comment: 'The client for partners has no dependencies, and runs in browsers.',
      severity: 'error',
      from: { path: '^clients/' },
      to: { pathNot: '^clients/' },
    },
    {
      name: 'no-barrels',
      severity: 'error',
      from: {},
      to: { path: '^(src|test)/.*index\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The recipes, the MCP server and the generators have packages of their own, which only their tests install.
    exclude: {
      path: '^((bench/)?dist|coverage|clients/typescript/dist|examples/(libraries|mcp-server)|test/system/clients/runtimes|tools/generators)/',
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
    },
  },
};
