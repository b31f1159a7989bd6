#!/usr/bin/env bash
# Reverse proxies that replace a redirect of an authorization server by an error page of their own, with their default settings.
#
# Versions: nginx 1.22.1-9+deb12u11, Apache 2.4.71-1~deb12u1, HAProxy 2.6.12-1+deb12u4, Caddy 2.6.2-5, Node 20.20. Needs Debian 12 with
# the libraries of these packages. The packages themselves are unpacked in a temporary folder.
# Expected: a proxy that accepts a request URL of some length also passes a redirect that repeats a part of this URL, or all four
# refuse URLs of the same length. RFC 9110 §4.1 recommends at least 8,000 octets for URLs.
# Seen: with a `state` of 4,500 characters, all four accept the request, and the server answers it. Apache, HAProxy and Caddy pass the
# redirect. nginx has accepted a longer request head than its buffer for the head of a response holds, so it drops the answer and
# returns 502. With 9,000 characters, nginx and Apache refuse the request with 414, before the server sees it; the others pass it.
# Why it matters: the authorization server has issued the code and recorded the consent by then. The user sees an error page that the
# server did not write, and the next attempt fails in the same way. The apps that send a long `state` are those that put a signed or
# encrypted object into it. Set `proxy_buffer_size`, and test the longest `state` that you accept through the proxy.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
pids=()
stop() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
chmod 777 "$folder"
cd "$folder"
apt-get download -qq nginx=1.22.1-9+deb12u11 apache2-bin=2.4.71-1~deb12u1 haproxy=2.6.12-1+deb12u4 caddy=2.6.2-5 2>/dev/null
for package in *.deb; do dpkg-deb -x "$package" "$folder/root"; done

cat > nginx.conf <<CONF
daemon off;
pid $folder/nginx.pid;
error_log $folder/nginx.log;
events {}
http {
  access_log off;
  client_body_temp_path $folder/body; proxy_temp_path $folder/proxy; fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi; scgi_temp_path $folder/scgi;
  server { listen 127.0.0.1:18101; location / { proxy_pass http://127.0.0.1:18100; } }
}
CONF
cat > apache.conf <<CONF
ServerRoot $folder
ServerName 127.0.0.1
PidFile $folder/apache.pid
ErrorLog $folder/apache.log
DefaultRuntimeDir $folder
Mutex file:$folder
$(for name in mpm_event authz_core proxy proxy_http; do echo "LoadModule ${name}_module $folder/root/usr/lib/apache2/modules/mod_$name.so"; done)
Listen 127.0.0.1:18102
User www-data
Group www-data
ProxyPass / http://127.0.0.1:18100/
CONF
cat > haproxy.conf <<'CONF'
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend public
  bind 127.0.0.1:18103
  default_backend service
backend service
  server service 127.0.0.1:18100
CONF
cat > Caddyfile <<'CONF'
{
  admin off
  auto_https off
}
http://127.0.0.1:18104 {
  reverse_proxy 127.0.0.1:18100
}
CONF
cat > server.mjs <<'JS'
import { createServer } from 'node:http';

// Redirects like an authorization endpoint (RFC 6749 §4.1.2), and counts what it has answered.
let answered = 0;
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/answered') return response.end(String(answered));
  answered += 1;
  const parameters = new URLSearchParams({ code: 'abc', state: searchParams.get('state') ?? '' });
  response.writeHead(303, { location: `https://app.example/callback?${parameters}` }).end();
}).listen(18100, '127.0.0.1');
JS
cat > check.mjs <<'JS'
const PORTS = { nginx: 18101, Apache: 18102, HAProxy: 18103, Caddy: 18104 };
const answered = async () => Number(await (await fetch('http://127.0.0.1:18100/answered')).text());
const seen = {};
for (const length of [1000, 4500, 9000])
  for (const [name, port] of Object.entries(PORTS)) {
    const before = await answered();
    const url = `http://127.0.0.1:${port}/authorize?state=${'s'.repeat(length)}`;
    const { status, headers } = await fetch(url, { redirect: 'manual' });
    const isAnswered = (await answered()) > before;
    const isPassed = headers.get('location')?.endsWith('s'.repeat(length)) === true;
    seen[`${name} ${length}`] = `${status}${isAnswered && !isPassed ? ' after the server had answered' : ''}`;
  }
console.log(seen);
const expected = {
  'nginx 1000': '303', 'Apache 1000': '303', 'HAProxy 1000': '303', 'Caddy 1000': '303',
  'nginx 4500': '502 after the server had answered', 'Apache 4500': '303', 'HAProxy 4500': '303', 'Caddy 4500': '303',
  'nginx 9000': '414', 'Apache 9000': '414', 'HAProxy 9000': '303', 'Caddy 9000': '303',
};
const holds = JSON.stringify(seen) === JSON.stringify(expected);
console.log(holds ? 'As described.' : 'Changed.');
process.exit(holds ? 0 : 1);
JS
node server.mjs & pids+=($!)
root/usr/sbin/nginx -c "$folder/nginx.conf" 2>/dev/null & pids+=($!)
root/usr/sbin/apache2 -D FOREGROUND -f "$folder/apache.conf" 2>/dev/null & pids+=($!)
root/usr/sbin/haproxy -q -db -f "$folder/haproxy.conf" 2>/dev/null & pids+=($!)
HOME="$folder" root/usr/bin/caddy run --adapter caddyfile --config "$folder/Caddyfile" >/dev/null 2>&1 & pids+=($!)
for port in 18101 18102 18103 18104; do
  for _ in $(seq 100); do curl -so /dev/null "http://127.0.0.1:$port/answered" && break; sleep 0.1; done
done
node check.mjs
