import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';

export const COMPOSE_FILE = 'deploy/compose.production.yaml';
export const COMPOSE_SETTINGS = 'deploy/compose.env.example';
export const IMAGE = 'developer-platform';
const MANIFESTS = 'deploy/kubernetes';

export type Variables = Readonly<Record<string, string>>;

/** A container that runs the image. */
export interface ImageContainer {
  where: string;
  image: string;
  /** Empty for the service itself. */
  command: readonly string[];
  /** With the values of `COMPOSE_SETTINGS`. Without the variables of the image. */
  env: Variables;
  /** The folders and files in the container that hold its secrets. */
  secretPaths: readonly string[];
  /** Time from SIGTERM to SIGKILL; undefined for the default. */
  gracePeriodMs?: number;
}

export interface ComposeService {
  image: string;
  command?: string[];
  environment?: Variables;
  secrets?: string[];
  stop_grace_period?: string;
  volumes?: string[];
  networks?: string[] | Record<string, { ipv4_address: string }>;
  read_only?: boolean;
  restart?: string;
  deploy?: { resources: { limits: { memory?: string } } };
  depends_on?: string[] | Record<string, { condition: string }>;
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
}

interface Probe {
  httpGet: { path: string; port: string };
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  env?: unknown;
  envFrom: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}

export interface PodTemplate {
  metadata: { labels: Variables; annotations?: Variables };
  spec: {
    terminationGracePeriodSeconds?: number;
    securityContext: object;
    containers: Container[];
    volumes: { name: string; secret?: { secretName: string } }[];
  };
}

/** The parts of a Kubernetes object that the tests read. */
export interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Variables;
  stringData?: Variables;
  spec: {
    template?: PodTemplate;
    jobTemplate?: { spec: { template: PodTemplate } };
    selector?: Variables & { matchLabels?: Variables };
    ports?: { targetPort: string }[];
    podSelector?: { matchLabels: Variables };
    policyTypes?: string[];
    ingress?: { from?: object[]; ports: { port: string }[] }[];
  };
}

/** The values of `compose.env.example`. */
export function composeSettings(): Variables {
  return parseEnv(readFileSync(COMPOSE_SETTINGS, 'utf8')) as Variables;
}

export function composeFile(): ComposeFile {
  const settings = composeSettings();
  const text = readFileSync(COMPOSE_FILE, 'utf8').replaceAll(
    /\$\{(\w+):\?\}/g,
    (_, name: string) => settings[name] ?? '',
  );
  return parse(text, { merge: true }) as ComposeFile;
}

export const MANIFEST_FILES = [
  'configmap.yaml',
  'secret.yaml.example',
  'migration-job.yaml',
  'deployment.yaml',
  'service.yaml',
  'network-policy.yaml',
  'disruption-budget.yaml',
  'cron-job.yaml',
];

/** Every Kubernetes object. @throws when a file is not valid YAML 1.1, as `kubectl` reads it */
export function manifests(): Manifest[] {
  return MANIFEST_FILES.flatMap((file) =>
    parseAllDocuments(readFileSync(`${MANIFESTS}/${file}`, 'utf8'), { version: '1.1' }).map(
      (document) => {
        if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join()}`);
        return { spec: {}, ...(document.toJS() as object) } as Manifest;
      },
    ),
  );
}

export function manifest(kind: string): Manifest {
  const found = manifests().find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`${MANIFESTS} has no ${kind}.`);
  return found;
}

/** The pods of the Deployment, the Job and the CronJob, by name of their object. */
export function podTemplates(): { where: string; pod: PodTemplate }[] {
  return manifests().flatMap(({ kind, metadata, spec }) => {
    const pod = spec.template ?? spec.jobTemplate?.spec.template;
    return pod === undefined ? [] : [{ where: `${kind} ${metadata.name}`, pod }];
  });
}

/** Every container of both examples that runs the image. */
export function imageContainers(): ImageContainer[] {
  const { services } = composeFile();
  const inCompose = Object.entries(services)
    .filter(([, { image }]) => image.startsWith(`${IMAGE}:`))
    .map(([name, { image, command = [], environment = {}, secrets = [], ...service }]) => ({
      where: `${COMPOSE_FILE}: ${name}`,
      image,
      command,
      env: environment,
      secretPaths: secrets.map((secret) => `/run/secrets/${secret}`),
      gracePeriodMs: seconds(service.stop_grace_period),
    }));
  const env = manifest('ConfigMap').data ?? {};
  const keys = Object.keys(manifest('Secret').stringData ?? {});
  const inPods = podTemplates().flatMap(({ where, pod: { spec } }) =>
    spec.containers.map(({ image, command = [], volumeMounts }) => {
      const { mountPath = '' } = volumeMounts.find(({ name }) => name === 'secrets') ?? {};
      return {
        where,
        image,
        command,
        env,
        secretPaths: keys.map((key) => `${mountPath}/${key}`),
        gracePeriodMs: seconds(spec.terminationGracePeriodSeconds),
      };
    }),
  );
  return [...inCompose, ...inPods];
}

/** Milliseconds of a number of seconds, such as `60s` or 60. */
function seconds(value: string | number | undefined): number | undefined {
  return value === undefined ? undefined : Number.parseInt(String(value), 10) * 1000;
}

/** One instruction of the Dockerfile. */
export interface Instruction {
  name: string;
  words: string[];
}

export function dockerfile(): Instruction[] {
  const text = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', ' ');
  return text
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => {
      const [name = '', ...words] = line.split(/ +/);
      return { name, words };
    });
}

/** The variables that the image sets. */
export function imageVariables(): Variables {
  const words = dockerfile().flatMap((one) => (one.name === 'ENV' ? one.words : []));
  return Object.fromEntries(words.map((word) => word.split('='))) as Variables;
}
