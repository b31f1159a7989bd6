import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Sends a GET with exactly these header lines (name, value, name, value, …), including `Host` and repeated names. Headers of the
 * body must be among them.
 */
export function getRaw(url: string, headers: readonly string[], body?: Buffer): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (answer) => {
      const { statusCode: status, headers: fields } = answer;
      text(answer).then(
        (content) =>
          resolve(new Response(content, { status, headers: fields as Record<string, string> })),
        reject,
      );
    });
    sent.on('error', reject).end(body);
  });
}

/**
 * Writes a request to a socket, one byte for each character: request line and headers, an empty line, and the body. Returns the
 * response once the service has closed the connection. @throws when there is none
 */
export function sendBytes(url: string, lines: readonly string[], body = ''): Promise<Response> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const received: string[] = [];
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => received.push(chunk));
    socket.on('error', reject).on('close', () => {
      const answer = answerIn(received.join(''));
      if (answer) resolve(answer);
      else reject(new Error('The service closed the connection without a response.'));
    });
  });
}

/** The first lines of a request, to which a test adds headers. */
export function head(url: string, method: string, path: string): string[] {
  return [`${method} ${path} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: close'];
}

function answerIn(received: string): Response | null {
  const [top = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = top.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return new Response(rest.join('\r\n\r\n') || null, { status: Number(status), headers });
}
