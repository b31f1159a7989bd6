import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { AppConfig } from '../../src/platform/config/app-config.js';
import { envSchema } from '../../src/platform/config/env.js';
import { ConfigError, loadConfig, SECRETS } from '../../src/platform/config/load-config.js';
import { VERSION } from '../../src/platform/version.js';
import { commandTree } from '../support/command-line.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { onOneEngine } from '../support/database.js';
import {
  COMPOSE_FILE,
  composeFile,
  composeSettings,
  dockerfile,
  IMAGE,
  imageContainers,
  type ImageContainer,
  imageVariables,
  MANIFEST_FILES,
  manifest,
  manifests,
  podTemplates,
} from '../support/deploy-files.js';
import { JOB } from '../support/prometheus.js';

/** Valid values for the secrets, which the examples do not contain. */
const SAMPLES: Record<(typeof SECRETS)[number], string> = {
  DATABASE_URL: 'mysql://platform:secret@database:3306/platform',
  OTP_PEPPER: 'a pepper of at least 32 characters',
  SMS_WEBHOOK_SECRET: 'a key of at least 16 bytes',
  TWILIO_API_SECRET: 'a secret',
  TWILIO_AUTH_TOKEN: 'a token',
};
const UNIT = 'deploy/systemd/developer-platform.service';
/** Of `systemd-analyze security`: 0 is the least, 10 the most. */
const MAX_EXPOSURE = 2;
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

/** Time that a process needs after its last request, as docs/operate/upgrade.md says. */
const EXIT_MS = 10_000;

const compose = composeFile();
const containers = imageContainers();
const services = containers.filter(({ command }) => command.length === 0);
const jobs = containers.filter(({ command }) => command.length > 0);
const caddyfile = readFileSync('deploy/Caddyfile', 'utf8');
const { rule_files: ruleFiles, scrape_configs: scrapes } = parse(
  readFileSync('deploy/prometheus.yaml', 'utf8'),
) as {
  rule_files: string[];
  scrape_configs: {
    job_name: string;
    metrics_path: string;
    static_configs: { targets: string[] }[];
  }[];
};

/** The configuration of a container, with samples for its secrets. */
function configOf({ env }: ImageContainer): AppConfig {
  const given = { ...imageVariables(), ...env, DATABASE_SSL_CA: '' };
  const samples = SECRETS.filter((name) => `${name}_FILE` in env).map((name) => [
    [name, SAMPLES[name]],
    [`${name}_FILE`, ''],
  ]);
  return loadConfig({ ...given, ...(Object.fromEntries(samples.flat()) as typeof given) });
}

describe.each(containers)('$where', (container) => {
  const { image, env, secretPaths } = container;

  it('runs the image of this version', () => {
    expect(image.split('/').at(-1)).toBe(`${IMAGE}:${VERSION}`);
  });

  it('sets only variables of the service, to valid values', () => {
    const known = [...Object.keys(envSchema.shape), ...SECRETS.map((name) => `${name}_FILE`)];
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
    const { production, database } = configOf(container);
    expect(production).toBe(true);
    expect(database.tls).toMatchObject({ rejectUnauthorized: true, verifyIdentity: true });
  });

  it('reads its secrets from files that it mounts', () => {
    expect(Object.keys(env)).toEqual(expect.not.arrayContaining([...SECRETS]));
    const files = Object.entries(env)
      .filter(([name]) => name.endsWith('_FILE') || name.startsWith('DATABASE_SSL_'))
      .map(([, file]) => file);
    expect(files.toSorted()).toEqual([...secretPaths].toSorted());
  });
});

describe.each(jobs)('$where', ({ command }) => {
  it('runs a command of the command line', () => {
    const [program, ...words] = command;
    expect(program).toBe('devplatform');
    const { groups, leaves } = commandTree();
    // `--actor` is an option of the program itself.
    const { operands = [], unknown } = groups[0]?.command.parseOptions(words) ?? {};
    const leaf = leaves.find(({ path }) => path === operands.join(' '));
    expect(leaf?.command.parseOptions(unknown ?? [])).toEqual({ operands: [], unknown: [] });
  });
});

describe.each(services)('$where', (service) => {
  it('gets more time for the shutdown than it needs', () => {
    const { shutdownDelayMs, requestTimeoutMs } = configOf(service).server;
    expect(service.gracePeriodMs).toBeGreaterThanOrEqual(
      shutdownDelayMs + requestTimeoutMs + EXIT_MS,
    );
  });
});

describe(UNIT, () => {
  const unit = readFileSync(UNIT, 'utf8');
  const valueOf = (name: string): string | undefined =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

  it('starts the program of the package, and gives it more time to stop than it needs', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(valueOf('ExecStart')).toBe(`/usr/bin/${scripts['start:prod']}`);
    const { shutdownDelayMs, requestTimeoutMs } = configOf(services[0] as ImageContainer).server;
    expect(Number(valueOf('TimeoutStopSec')) * 1000).toBeGreaterThanOrEqual(
      shutdownDelayMs + requestTimeoutMs + EXIT_MS,
    );
  });

  it.skipIf(!hasSystemd)(`has an exposure of at most ${MAX_EXPOSURE}`, () => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', UNIT], {
      encoding: 'utf8',
    });
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(
      MAX_EXPOSURE,
    );
  });
});

describe('compose.production.yaml', () => {
  it('uses each setting of compose.env.example, and no others', () => {
    const used = readFileSync(COMPOSE_FILE, 'utf8').matchAll(/\$\{?(\w*)/g);
    const names = new Set([...used].map(([, name = '']) => name));
    expect([...names].toSorted()).toEqual(Object.keys(composeSettings()).toSorted());
  });

  it('trusts the proxy only', () => {
    const { networks = {} } = compose.services.proxy ?? {};
    const address = 'edge' in networks ? networks.edge?.ipv4_address : undefined;
    for (const { env } of containers.filter(({ where }) => where.startsWith(COMPOSE_FILE)))
      expect(env.TRUST_PROXY).toBe(address);
  });

  it.each(Object.entries(compose.services))(
    'gives %s a fixed version, limits, a read-only file system and no plain secret',
    (_, { image, environment = {}, read_only, restart, deploy, secrets = [] }) => {
      expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+(\.\d+)?$/);
      expect(deploy?.resources.limits.memory).toMatch(/^\d+[mg]$/);
      expect({ read_only, restart }).toEqual({ read_only: true, restart: expect.any(String) });
      const secret = Object.keys(environment).filter((name) => /PASSWORD|SECRET|PEPPER/.test(name));
      expect(secret.filter((name) => !name.endsWith('_FILE'))).toEqual([]);
      expect(secrets.filter((name) => !(name in compose.secrets))).toEqual([]);
    },
  );

  it('mounts existing files', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
    const sources = mounts.map((mount) => mount.split(':')[0] ?? '');
    const files = sources.filter((source) => source.startsWith('.'));
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => !existsSync(join('deploy', file)))).toEqual([]);
  });

  /** Where a service finds a file of this repository. */
  const mountOf = (service: string, file: string): string | undefined =>
    compose.services[service]?.volumes
      ?.map((mount) => mount.split(':'))
      .find(([source]) => source === file)?.[1];

  it('gives Prometheus the alerts, and Grafana Prometheus and the dashboard', () => {
    expect(ruleFiles).toEqual([mountOf('prometheus', '../ops/alerts.yaml')]);
    const { datasources } = parse(readFileSync('deploy/grafana/datasources.yaml', 'utf8')) as {
      datasources: { url: string }[];
    };
    expect(datasources.map(({ url }) => url)).toEqual(['http://prometheus:9090']);
    const { providers } = parse(readFileSync('deploy/grafana/dashboards.yaml', 'utf8')) as {
      providers: { options: { path: string } }[];
    };
    const dashboard = mountOf('grafana', '../ops/grafana-dashboard.json') ?? '';
    expect(providers.map(({ options }) => options.path)).toEqual([dirname(dashboard)]);
    for (const [file, folder] of [
      ['./grafana/datasources.yaml', 'datasources'],
      ['./grafana/dashboards.yaml', 'dashboards'],
    ] as const)
      expect(dirname(mountOf('grafana', file) ?? '')).toBe(`/etc/grafana/provisioning/${folder}`);
  });

  it('gives the database the secrets that its options name', () => {
    const { command = [], secrets = [] } = compose.services.database ?? {};
    const files = [...command.join(' ').matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name]) => name);
    expect(files).toHaveLength(3);
    expect(secrets).toEqual(expect.arrayContaining(files));
  });

  it('has the services that README.md names', () => {
    const readme = readFileSync('deploy/README.md', 'utf8');
    const names = readme.matchAll(
      /docker compose (?:exec|run|up) (?:-\S+ (?:\w+=\S+ )?)*([a-z][\w-]*)/g,
    );
    const used = new Set([...names].map(([, name = '']) => name));
    expect([...used].toSorted()).toEqual(['database', 'migrate', 'service-1', 'service-2']);
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining([...used]));
  });

  it('runs the migrations before the service', () => {
    for (const name of ['service-1', 'service-2'])
      expect(compose.services[name]?.depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
      });
  });

  it('proxies and scrapes ports on which the service listens', () => {
    const { server } = configOf(services[0] as ImageContainer);
    const upstreams = [...caddyfile.matchAll(/\breverse_proxy (?:@\w+ )?(.*) \{/g)].map(
      ([, list]) => list,
    );
    const names = services.filter(({ where }) => where.startsWith(COMPOSE_FILE)).map(nameOf);
    const all = (port: number | null) => names.map((name) => `${name}:${port}`);
    expect(upstreams).toEqual([all(server.port).join(' '), all(server.port).join(' ')]);
    const [scrape, ...more] = scrapes;
    expect(more).toEqual([]);
    expect(scrape?.job_name).toBe(JOB);
    expect(scrape?.static_configs).toEqual([{ targets: all(server.metricsPort) }]);
  });
});

function nameOf({ where }: ImageContainer): string {
  return where.slice(where.lastIndexOf(' ') + 1);
}

describe('Kubernetes manifests', () => {
  const deployment = manifest('Deployment');

  it.each(podTemplates())('restrict $where', ({ pod: { spec } }) => {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      // Otherwise Kubernetes adds variables such as METRICS_PORT for a Service named "metrics".
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    for (const { securityContext, env, envFrom, volumeMounts } of spec.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(env).toBeUndefined();
      expect(envFrom).toEqual([{ configMapRef: { name: manifest('ConfigMap').metadata.name } }]);
      expect(volumeMounts.map(({ name }) => name)).toEqual(spec.volumes.map(({ name }) => name));
    }
    const mounted = spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    expect(mounted).toEqual([manifest('Secret').metadata.name]);
  });

  it('replace pods without an outage', () => {
    expect(deployment.spec).toMatchObject({
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    expect(manifest('PodDisruptionBudget').spec).toMatchObject({ minAvailable: 1 });
  });

  it('select the pods of the service, and no pods of jobs', () => {
    const labels = deployment.spec.template?.metadata.labels;
    expect(deployment.spec.selector?.matchLabels).toEqual(labels);
    expect(manifest('PodDisruptionBudget').spec.selector?.matchLabels).toEqual(labels);
    expect(manifest('Service').spec.selector).toEqual(labels);
    const same = podTemplates().filter(
      ({ pod }) => JSON.stringify(pod.metadata.labels) === JSON.stringify(labels),
    );
    expect(same.map(({ where }) => where)).toEqual([`Deployment ${deployment.metadata.name}`]);
  });

  it('name the ports on which the service listens', () => {
    const { server } = configOf(services[0] as ImageContainer);
    const template = deployment.spec.template;
    expect(template?.spec.containers[0]?.ports).toEqual([
      { name: 'http', containerPort: server.port },
      { name: 'metrics', containerPort: server.metricsPort },
    ]);
    expect(template?.metadata.annotations?.['prometheus.io/port']).toBe(String(server.metricsPort));
    expect(manifest('Service').spec.ports?.map(({ targetPort }) => targetPort)).toEqual(['http']);
  });

  it('let only Prometheus reach the metrics port, and all reach the API', () => {
    const { podSelector, policyTypes, ingress = [] } = manifest('NetworkPolicy').spec;
    expect(podSelector).toEqual(deployment.spec.selector);
    expect(policyTypes).toEqual(['Ingress']);
    const portsOf = (rules: typeof ingress) =>
      rules.flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(portsOf(ingress.filter(({ from }) => from === undefined))).toEqual(['http']);
    const restricted = ingress.filter(({ from }) => from !== undefined);
    expect(portsOf(restricted)).toEqual(['metrics']);
    // One entry: two would admit all pods of the namespace, and such pods of all namespaces.
    for (const { from } of restricted)
      expect(from).toEqual([
        { namespaceSelector: expect.anything(), podSelector: expect.anything() },
      ]);
  });

  it('are all read by these tests', () => {
    expect(readdirSync('deploy/kubernetes').toSorted()).toEqual([...MANIFEST_FILES].toSorted());
  });

  it('contain no secrets with which the service starts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'platform-secrets-'));
    try {
      const { stringData = {} } = manifest('Secret');
      for (const [name, value] of Object.entries(stringData))
        writeFileSync(join(folder, name), value);
      const settings = Object.entries(manifest('ConfigMap').data ?? {}).map(([name, value]) => [
        name,
        value.replace('/run/secrets/developer-platform', folder),
      ]);
      let problems: readonly string[] = [];
      try {
        loadConfig(Object.fromEntries(settings) as NodeJS.ProcessEnv);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        ({ problems } = error);
      }
      for (const name of ['DATABASE_URL', 'OTP_PEPPER', 'SMS_WEBHOOK_SECRET'])
        expect(problems).toContainEqual(expect.stringMatching(`^${name}_FILE: .* is empty$`));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('give the migrations of each version a job of their own', () => {
    const { name } = manifest('Job').metadata;
    expect(name).toBe(`${IMAGE}-migrate-${VERSION.replaceAll('.', '-')}`);
    const names = manifests().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('Dockerfile', () => {
  const instructions = dockerfile();
  const copied = instructions
    .filter(({ name, words }) => name === 'COPY' && !words[0]?.startsWith('--'))
    .flatMap(({ words }) => words.slice(0, -1));

  it('copies existing files, which .dockerignore admits', () => {
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
    const [, ...admitted] = readFileSync('.dockerignore', 'utf8').trim().split('\n');
    expect(admitted.map((line) => line.slice(1)).toSorted()).toEqual(copied.toSorted());
  });

  it('exposes the ports on which the service listens', () => {
    const { server } = loadConfig({});
    const exposed = instructions.flatMap(({ name, words }) => (name === 'EXPOSE' ? words : []));
    expect(exposed).toEqual([server.port, server.metricsPort].map(String));
  });
});

onOneEngine('Paths in the examples', (database) => {
  const { app, metricsOrigin } = useMetricsApp(database);
  beforeAll(() => app().clock.set(new Date().toISOString()));

  it('exist', async () => {
    const pods = podTemplates().map(({ pod }) => pod);
    const probes = pods
      .flatMap(({ spec }) => spec.containers)
      .flatMap((one) => [one.startupProbe, one.livenessProbe, one.readinessProbe])
      .flatMap((probe) => probe?.httpGet.path ?? []);
    const [, health = ''] = /health_uri (\S+)/.exec(caddyfile) ?? [];
    const [, ofImage = ''] =
      /PORT \|\| 3000\}(\/\w+)/.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    expect([...probes, health, ofImage]).toEqual([
      ...['/livez', '/livez', '/readyz'],
      ...['/readyz', '/livez'],
    ]);
    for (const path of ['/livez', '/readyz']) expect((await app().fetch(path)).status).toBe(200);
    const scraped = [
      ...scrapes.map(({ metrics_path }) => metrics_path),
      ...pods.flatMap(({ metadata }) => metadata.annotations?.['prometheus.io/path'] ?? []),
    ];
    expect(scraped.length).toBe(2);
    for (const path of scraped) expect((await fetch(metricsOrigin() + path)).status).toBe(200);
  });
});
