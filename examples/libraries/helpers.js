import { createInterface } from 'node:readline/promises';

/** Stands for your redirect. Prints the link, and reads the address that the browser returned to. */
export async function sendUserTo(link) {
  const terminal = createInterface(process.stdin, process.stdout);
  const question = `Open ${link}\nThen paste the address that you returned to:\n`;
  const callbackUrl = await terminal.question(question);
  terminal.close();
  return new URL(callbackUrl);
}

/** The user who granted this access token. */
export async function getMe(accessToken) {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${process.env.ISSUER}/dev/v1/me`, { headers })).json();
}
