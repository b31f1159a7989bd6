import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** A GET with these header lines as they are, names and values by turns: `Host` and several of one name included. */
export function getRaw(url: string, headers: readonly string[]): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (answer) => {
      const { statusCode: status, headers: fields } = answer;
      text(answer).then(
        (body) =>
          resolve(new Response(body, { status, headers: fields as Record<string, string> })),
        reject,
      );
    });
    sent.on('error', reject).end();
  });
}
