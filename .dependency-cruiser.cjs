/**
 * Who may import whom. docs/architecture.md tells why; `npm run deps` fails on any other arrow.
 * A layer lists what of ours it may import; a module lists the modules whose services it may use.
 */
const layers = {
  common: [],
  config: ['common'],
  database: ['common', 'config'],
  http: ['common', 'config'],
  access: ['common', 'config', 'http'],
  pages: ['common', 'config', 'access'],
  audit: ['common', 'config', 'database'],
  idempotency: ['common', 'config', 'database', 'http'],
  metrics: [],
  'command-line': ['common'],
  modules: [
    'common',
    'config',
    'database',
    'http',
    'access',
    'pages',
    'audit',
    'idempotency',
    'metrics',
    'command-line',
  ],
  operations: [
    'common',
    'config',
    'database',
    'http',
    'access',
    'pages',
    'audit',
    'idempotency',
    'metrics',
    'command-line',
    'modules',
  ],
};

const modules = {
  users: [],
  quota: [],
  oauth: ['users', 'quota'],
  posts: ['users', 'quota'],
  comments: ['users', 'posts'],
  analytics: ['posts'],
  demo: ['users', 'oauth', 'posts', 'comments', 'quota', 'analytics'],
};

/** Where TypeORM may be seen, and nowhere else. */
const ormFiles = [
  '\\.entity\\.ts$',
  '\\.repository\\.ts$',
  '\\.personal-data\\.ts$',
  '^src/database/',
  '^src/bin/',
  '^ormconfig\\.ts$',
  '^test/',
];

/** What of another module may be imported: its module, its services, its errors and decorators, and its types. */
const moduleFaces =
  '\\.(module|service|errors|param|entity|personal-data)\\.ts$|/(call-log\\.service|grant-opener|token-issuer|post-draft|period)\\.ts$';

const isType = { dependencyTypesNot: ['type-only'] };

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Arrows go one way.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nobody imports is dead or a program.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '\\.(spec|e2e-spec|db-spec|browser-spec)\\.ts$',
          '^src/(main|cli)\\.ts$',
          '^src/bin/',
          '^examples/',
          '^(ormconfig|rolldown\\.config)\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'Every import leads somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages-in-src',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], ...isType },
    },
    ...Object.entries(layers).map(([layer, allowed]) => ({
      name: `layer-${layer}`,
      comment: `${layer}/ may import: ${allowed.join(', ') || 'nothing of ours'}.`,
      severity: 'error',
      from: { path: `^src/${layer}/` },
      to: { path: '^src/', pathNot: `^src/(${[layer, ...allowed].join('|')})/` },
    })),
    ...Object.entries(modules).map(([name, allowed]) => ({
      name: `module-${name}`,
      comment: `modules/${name} may import the modules: ${allowed.join(', ') || 'none'}.`,
      severity: 'error',
      from: { path: `^src/modules/${name}/` },
      to: { path: '^src/modules/', pathNot: `^src/modules/(${[name, ...allowed].join('|')})/` },
    })),
    {
      name: 'modules-by-their-faces',
      comment:
        "Across modules: the module, its services, its errors, and types. A join may name the other module's entity.",
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: { path: '^src/modules/', pathNot: [`^src/modules/$1/`, moduleFaces], ...isType },
    },
    {
      name: 'foreign-entities-only-in-joins',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/', pathNot: '\\.(repository|personal-data)\\.ts$' },
      to: { path: '^src/modules/.*\\.entity\\.ts$', pathNot: '^src/modules/$1/', ...isType },
    },
    {
      name: 'common-without-framework',
      severity: 'error',
      from: { path: '^src/common/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: 'node_modules/(@nestjs|express|typeorm|class-validator|class-transformer|rxjs|commander)/',
      },
    },
    {
      name: 'orm-in-its-place',
      comment: 'Only entities, repositories and database/ know TypeORM.',
      severity: 'error',
      from: { path: '^(src|ormconfig)', pathNot: ormFiles },
      to: { path: 'node_modules/(typeorm|@nestjs/typeorm)/' },
    },
    {
      name: 'services-without-http',
      comment: 'Services and repositories do not know how they are called.',
      severity: 'error',
      from: { path: '^src/modules/.*\\.(service|repository)\\.ts$' },
      to: { path: '(/dto/|^src/http/|node_modules/(express|@nestjs/swagger)/)', ...isType },
    },
    {
      name: 'controllers-use-services',
      comment: 'A controller does not reach past its services.',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: '\\.(repository|entity)\\.ts$', ...isType },
    },
    {
      name: 'nobody-imports-the-root',
      severity: 'error',
      from: {
        path: '^src/(common|config|database|http|access|pages|audit|idempotency|command-line|modules|operations)/',
      },
      to: { path: '^src/[^/]+\\.ts$' },
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
    exclude: { path: '^(dist|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
    },
  },
};
