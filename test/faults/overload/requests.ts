import { gzipSync } from 'node:zlib';

/** The bytes of a request for the first ten posts. */
export function readPosts(baseUrl: string, token: string): string {
  return requestOf('GET', '/dev/v1/posts?limit=10', headers(baseUrl, token));
}

/** The bytes of a publish request. */
export function publish(baseUrl: string, token: string, content: string): string {
  const body = JSON.stringify({ content });
  return publishHead(baseUrl, token, body.length) + body;
}

/** The request line and headers of a publish with a body of `bodyBytes` bytes. */
export function publishHead(baseUrl: string, token: string, bodyBytes: number): string {
  const bodyHeaders = ['Content-Type: application/json', `Content-Length: ${bodyBytes}`];
  return requestOf('POST', '/dev/v1/posts', [...headers(baseUrl, token), ...bodyHeaders]);
}

/** The beginning of a publish: the head and the first ten bytes of a compressed body. */
export function compressedPublishBegun(baseUrl: string, token: string): string {
  const bodyHeaders = ['Content-Type: application/json', 'Content-Encoding: gzip'];
  const lines = [...headers(baseUrl, token), ...bodyHeaders, 'Content-Length: 1000'];
  return requestOf('POST', '/dev/v1/posts', lines) + gzipSync('{}').toString('latin1', 0, 10);
}

/** An exchange without the last byte of its form. */
export function exchangeBegun(baseUrl: string): string {
  const form = 'grant_type=authorization_code';
  return formHead(baseUrl, '/oauth/token', form.length + 1) + form;
}

/** A revocation of an unknown token by a public app, which returns 200. */
export function revoke(baseUrl: string, clientId: string): string {
  const form = `client_id=${clientId}&token=svcrt_${'A'.repeat(43)}`;
  return formHead(baseUrl, '/oauth/revoke', form.length) + form;
}

function formHead(baseUrl: string, path: string, bodyBytes: number): string {
  const host = `Host: ${new URL(baseUrl).host}`;
  const type = 'Content-Type: application/x-www-form-urlencoded';
  return requestOf('POST', path, [host, type, `Content-Length: ${bodyBytes}`]);
}

function headers(baseUrl: string, token: string): string[] {
  return [`Host: ${new URL(baseUrl).host}`, `Authorization: Bearer ${token}`];
}

function requestOf(method: string, path: string, lines: readonly string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}
