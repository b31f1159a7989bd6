import { request } from 'node:http';
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
