// Each case is sent to both servers; the test compares the responses.

import { type Apps, basic, type Case, exchangeWith, flow } from '../tested-server.js';

const UNKNOWN_CLIENT_ID = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';

/** The id and the secret of an app in the body of an exchange. */
type InBody = [id: string | undefined, secret?: string | string[]];
/** The id and the secret of an app in the header Authorization of an exchange. */
type InHeader = [id: string, secret: string];

/** The exchange of a new code with the client_id and client_secret of the body alone. */
function body(
  name: string,
  proves: string | undefined,
  app: keyof Apps,
  parts: (id: string, secret: string, apps: Apps) => InBody,
): Case {
  const step = exchangeWith(({ clientId, secret = '' }, apps) => {
    const [client_id, client_secret] = parts(clientId, secret, apps);
    return { form: { client_id, client_secret } };
  });
  return flow(`client: ${name}`, proves, [step], { app });
}

/** The exchange of a new code with HTTP Basic, and perhaps credentials in the body, too. */
function header(
  name: string,
  proves: string,
  app: keyof Apps,
  parts: (id: string, secret: string) => InHeader,
  inBody: (id: string, secret: string, apps: Apps) => InBody = () => [undefined],
): Case {
  const step = exchangeWith(({ clientId, secret = '' }, apps) => {
    const [client_id, client_secret] = inBody(clientId, secret, apps);
    return { form: { client_id, client_secret }, header: basic(...parts(clientId, secret)) };
  });
  return flow(`client: ${name}`, proves, [step], { app });
}

/** The exchange of a new code with a malformed Authorization header. */
function malformed(name: string, value: string): Case {
  const step = exchangeWith(() => ({ header: value }));
  return flow(`client: Authorization with ${name}`, 'O87', [step]);
}

const same = (id: string, secret: string): InHeader => [id, secret];
const encoded = (text: string): string => text.replaceAll('_', '%5F').replaceAll('-', '%2D');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const valid: Case[] = [
  header('Basic with raw parts', 'O81', 'garden', same),
  header('Basic with encoded parts', 'O81', 'garden', (id, secret) => [
    encoded(id),
    encoded(secret),
  ]),
  flow('client: Basic written in lower case', 'O81', [
    exchangeWith(({ clientId, secret = '' }) => ({
      header: basic(clientId, secret).replace('Basic', 'basic'),
    })),
  ]),
  body('the secret in the body', 'O82', 'garden', same),
  header('Basic and the same client_id in the body', 'O83', 'garden', same, (id) => [id]),
  body('a public app by its id', 'O89', 'pocket', (id) => [id]),
  body('a public app by its id with an empty secret', 'O66', 'pocket', (id) => [id, '']),
  header('a public app by Basic with an empty password', 'O89', 'pocket', (id) => [id, '']),
];

const invalid: Case[] = [
  header('Basic and the same secret in the body', 'O83', 'garden', same, same),
  header('Basic and another secret in the body', 'O83', 'garden', same, (id, secret) => [
    id,
    `${secret}x`,
  ]),
  header('Basic and another client_id in the body', 'O83', 'garden', same, (_id, _secret, apps) => [
    apps.library.clientId,
  ]),
  header('a wrong secret in Basic', 'O84', 'garden', (id, secret) => [id, `${secret}x`]),
  body('a wrong secret in the body', 'O85', 'garden', (id, secret) => [id, `${secret}x`]),
  body('the secret of another app', 'O85', 'garden', (id, _, apps) => [id, apps.library.secret]),
  header('an unknown app in Basic', 'O86', 'garden', (_, secret) => [UNKNOWN_CLIENT_ID, secret]),
  body('an unknown app in the body', 'O86', 'garden', (_, secret) => [UNKNOWN_CLIENT_ID, secret]),
  body('no credentials', undefined, 'garden', () => [undefined]),
  body('a secret without an app', undefined, 'garden', (_, secret) => [undefined, secret]),
  body('a public app with a secret in the body', 'O89', 'pocket', (id) => [id, 'x']),
  header('a public app with a secret in Basic', 'O89', 'pocket', (id) => [id, 'x']),
  body('a confidential app without its secret', 'O88', 'garden', (id) => [id]),
  body('a confidential app with an empty secret', 'O88', 'garden', (id) => [id, '']),
  header('a confidential app with an empty password in Basic', 'O88', 'garden', (id) => [id, '']),
  body('client_secret twice', 'O65', 'garden', (id, secret) => [id, [secret, secret]]),
];

/** Client authentication (RFC 6749 §2.3, §5.2). */
export const clientAuthenticationCases: readonly Case[] = [
  ...valid,
  ...invalid,
  malformed('no credentials', 'Basic'),
  malformed('invalid base64', 'Basic %%%'),
  malformed('base64 without a colon', `Basic ${base64('svc_app_x')}`),
  malformed('only a colon', `Basic ${base64(':')}`),
  malformed('an empty id', `Basic ${base64(':secret')}`),
  malformed('control characters', `Basic ${base64('\u0000\u0001:\u007f')}`),
  malformed('a broken encoding', `Basic ${base64('svc%5:%zz')}`),
  malformed('another scheme', 'Bearer svcat_x'),
];
