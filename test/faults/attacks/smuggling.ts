import { requestOf } from './send-raw.js';

export interface Smuggling {
  what: string;
  bytes: string;
}

/**
 * Byte sequences that one parser may read as one request and another parser as two (RFC 9112 §11.2). The token authorizes both
 * requests.
 */
export function smuggling(token: string): Smuggling[] {
  const allowed = [`Authorization: Bearer ${token}`, 'Content-Type: application/json'];
  const inner = requestOf('GET /dev/v1/me', allowed);
  const publish = (headers: readonly string[], body: string): string =>
    requestOf('POST /dev/v1/posts', [...allowed, ...headers], body);
  /** By default, the body is an empty sequence of chunks. The smuggled request follows it. */
  const withChunkedBody = (headers: readonly string[], body = `0\r\n\r\n${inner}`): string =>
    publish(headers, body);
  const getWithHeaders = (lines: string): string =>
    `GET /livez HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n${inner}`;
  const te = 'Transfer-Encoding: chunked';
  const bytes: Record<string, string> = {
    'a length and chunks': withChunkedBody(['Content-Length: 6', te]),
    'chunks and a length': withChunkedBody([te, 'Content-Length: 6']),
    'chunks and a length of zero': withChunkedBody([te, 'Content-Length: 0']),
    'two lengths': publish(['Content-Length: 0', `Content-Length: ${inner.length}`], inner),
    'two lengths in one header': publish([`Content-Length: 0, ${inner.length}`], inner),
    'the same length twice': publish(['Content-Length: 0', 'Content-Length: 0'], inner),
    'a length with a sign': publish([`Content-Length: +${inner.length}`], inner),
    'a negative length': publish(['Content-Length: -1'], inner),
    'a length in hexadecimal': publish(['Content-Length: 0x0'], inner),
    'a length of two numbers': publish([`Content-Length: 0 ${inner.length}`], inner),
    'a length that overflows': publish(['Content-Length: 18446744073709551616'], inner),
    'an empty length': publish(['Content-Length:'], inner),
    'a space before the colon': withChunkedBody([
      'Transfer-Encoding : chunked',
      'Content-Length: 5',
    ]),
    'a vertical tab before the coding': withChunkedBody([
      'Transfer-Encoding:\u000bchunked',
      'Content-Length: 5',
    ]),
    'an unknown coding': withChunkedBody(['Transfer-Encoding: xchunked', 'Content-Length: 5']),
    'a coding in quotes': withChunkedBody(['Transfer-Encoding: "chunked"', 'Content-Length: 5']),
    'another coding after chunks': withChunkedBody(['Transfer-Encoding: chunked, identity']),
    'another coding after chunks, in two lines': withChunkedBody([te, 'Transfer-Encoding: cow']),
    'chunks twice': withChunkedBody(['Transfer-Encoding: chunked, chunked']),
    'chunks in two lines': withChunkedBody([te, te]),
    'another coding before chunks': withChunkedBody(['Transfer-Encoding: gzip, chunked']),
    'another coding before chunks, in two lines': withChunkedBody(['Transfer-Encoding: gzip', te]),
    'identity before chunks, in two lines': withChunkedBody(['Transfer-Encoding: identity', te]),
    'chunks in HTTP/1.0': inHttp10(withChunkedBody([te])),
    'chunks and a length in HTTP/1.0': inHttp10(withChunkedBody(['Content-Length: 5', te])),
    'chunks in HTTP/1.0 with keep-alive': inHttp10(withChunkedBody([te, 'Connection: keep-alive'])),
    'two hosts': getWithHeaders('Host: evil.example'),
    'the same host twice': getWithHeaders('Host: x'),
    'a folded coding': withChunkedBody(['Transfer-Encoding:\r\n chunked', 'Content-Length: 5']),
    'a folded header': getWithHeaders(`X-A: b\r\n ${'c'.repeat(8)}`),
    'bare line feeds': `GET /livez HTTP/1.1\nHost: x\n\n${inner}`,
    'a line feed in a header': getWithHeaders(`X-A: b\nX-B: c`),
    'a bare carriage return': getWithHeaders('X-A: b\rX-B: c'),
    'NUL in a header': getWithHeaders('X-A: b\0c'),
    'a header without a colon': getWithHeaders('X-A'),
    'a header without a name': getWithHeaders(': b'),
    'a space before the first header': `GET /livez HTTP/1.1\r\n Host: x\r\n\r\n${inner}`,
    'a chunk size with 0x': withChunkedBody([te], `0x0\r\n\r\n${inner}`),
    'a chunk size with a sign': withChunkedBody([te], `-1\r\n\r\n${inner}`),
    'a chunk size that overflows': withChunkedBody([te], `fffffffffffffffff\r\n${inner}`),
    'a chunk longer than its size': withChunkedBody([te], `1\r\n{}\r\n0\r\n\r\n${inner}`),
    'a line feed after the size of a chunk': withChunkedBody([te], `2\n{}\r\n0\r\n\r\n${inner}`),
    'a line feed after a chunk': withChunkedBody([te], `2\r\n{}\n0\r\n\r\n${inner}`),
    'a line feed in a chunk extension': withChunkedBody([te], `2;a\nb\r\n{}\r\n0\r\n\r\n${inner}`),
    'a carriage return in a chunk extension': withChunkedBody(
      [te],
      `2;a\rb\r\n{}\r\n0\r\n\r\n${inner}`,
    ),
    'a very long chunk extension': withChunkedBody(
      [te],
      `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n${inner}`,
    ),
    'an invalid version': `GET /livez HTTP/1.2.3\r\nHost: x\r\n\r\n${inner}`,
    'no version': `GET /livez\r\n\r\n${inner}`,
    'no host': `GET /livez HTTP/1.1\r\n\r\n${inner}`,
    'the preface of HTTP/2': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${inner}`,
    'a tunnel': `CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n${inner}`,
  };
  return Object.entries(bytes).map(([what, each]) => ({ what, bytes: each }));
}

/** The body as one chunk; each character is one byte. */
export function inOneChunk(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}

function inHttp10(bytes: string): string {
  return bytes.replace(' HTTP/1.1', ' HTTP/1.0');
}
