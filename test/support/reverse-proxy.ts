import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { findProgram } from './programs.js';
import { nginxConfiguration } from './web-servers.js';

const START_TIMEOUT_MS = 5000;

export const PROXIES = ['nginx', 'haproxy', 'apache2', 'caddy'] as const;
/** Varnish is a cache: it does not spread requests over several processes without more configuration. */
export const PROXIES_AND_CACHES = [...PROXIES, 'varnishd'] as const;
export type ProxyName = (typeof PROXIES_AND_CACHES)[number];

/** A real reverse proxy on loopback, in front of several processes of the service. */
export interface ReverseProxy {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** The settings of docs/operate/install.md, and what a proxy needs to run in a folder. */
const CONFIGURATIONS: Readonly<
  Record<ProxyName, (port: number, backends: readonly string[], folder: string) => string>
> = {
  nginx: (port, backends, folder) =>
    nginxConfiguration(
      folder,
      `
      upstream service {
        ${backends.map((backend) => `server ${backend};`).join(' ')}
        keepalive 50;
      }
      server {
        listen 127.0.0.1:${port};
        large_client_header_buffers 4 32k;
        location / {
          proxy_pass http://service;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_buffer_size 32k;
          proxy_buffers 8 32k;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }
      }`,
    ),
  haproxy: (port, backends) => `
global
  maxconn 1000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option redispatch
frontend public
  bind 127.0.0.1:${port}
  default_backend service
backend service
  option forwardfor
  option httpchk GET /readyz
  http-reuse always
  default-server check inter 1s pool-max-conn 50 pool-purge-delay 60s
  ${backends.map((backend, index) => `server service-${index} ${backend}`).join('\n  ')}
`,
  apache2: (port, backends, folder) => `
ServerRoot ${folder}
ServerName 127.0.0.1
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}
Mutex file:${folder}
${APACHE_MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
Listen 127.0.0.1:${port}
User www-data
Group www-data
LimitRequestLine 16384
<Proxy balancer://service>
  ${backends.map((backend) => `BalancerMember http://${backend} ttl=60 retry=1 responsefieldsize=16384 hcmethod=GET hcuri=/readyz hcinterval=1`).join('\n  ')}
</Proxy>
ProxyPass / balancer://service/
`,
  caddy: (port, backends) => `
{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  reverse_proxy ${backends.join(' ')} {
    health_uri /readyz
    health_interval 1s
    health_timeout 2s
    lb_try_duration 3s
    transport http {
      keepalive 60s
    }
  }
}
`,
  varnishd: (_port, backends) => `
vcl 4.1;
backend service {
  ${backends.map((backend) => `.host = "${backend.split(':')[0]}"; .port = "${backend.split(':')[1]}";`)[0]}
}
`,
};

const VARNISH_PARAMETERS = ['req_hdr_len', 'resp_hdr_len'];

const APACHE_MODULES = [
  ...['mpm_event', 'authz_core', 'slotmem_shm', 'lbmethod_byrequests'],
  ...['proxy', 'proxy_http', 'proxy_balancer', 'proxy_hcheck'],
];

const OPTIONS: Readonly<Record<ProxyName, (port: number, folder: string) => string[]>> = {
  nginx: () => ['-c'],
  haproxy: () => ['-q', '-db', '-f'],
  apache2: () => ['-D', 'FOREGROUND', '-f'],
  caddy: () => ['run', '--adapter', 'caddyfile', '--config'],
  varnishd: (port, folder) => [
    ...['-F', '-n', join(folder, 'varnish'), '-a', `127.0.0.1:${port}`],
    ...VARNISH_PARAMETERS.flatMap((name) => ['-p', `http_${name}=32k`]),
    '-f',
  ],
};

/** Starts the proxy, or returns undefined if it is not installed. @param backends as `host:port` */
export async function startProxy(
  name: ProxyName,
  backends: readonly string[],
  port?: number,
): Promise<ReverseProxy | undefined> {
  const program = await findProgram(name);
  if (program === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'platform-proxy-'));
  // Apache runs as another user.
  await chmod(folder, 0o777);
  const ownPort = port ?? (await freePort());
  const file = join(folder, 'proxy.conf');
  await writeFile(file, CONFIGURATIONS[name](ownPort, backends, folder));
  const child = spawn(program, [...OPTIONS[name](ownPort, folder), file], {
    stdio: ['ignore', 'ignore', ['caddy', 'varnishd'].includes(name) ? 'ignore' : 'inherit'],
    env: { PATH: process.env.PATH, HOME: folder },
  });
  const baseUrl = `http://127.0.0.1:${ownPort}`;
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline; await sleep(50)) {
    const response = await fetch(`${baseUrl}/livez`).catch(() => undefined);
    await response?.text();
    if (response?.status === 200) return { baseUrl, stop };
  }
  await stop();
  throw new Error(`${name} did not start.`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
