import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A GET with these header lines as they are, names and values by turns: `Host` and several of one name included. Headers
 * that go with a body must be among them.
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
 * Writes a request as it is, a byte for each character, which clients would tidy up first: its first `lines`, and what comes
 * after the empty line. Answers what came back until the service closed the connection; fails if nothing did.
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
      else reject(new Error('The service closed the connection without an answer.'));
    });
  });
}

/** The first lines of a request of this service, to which others may be added. */
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
