// Each case is sent to both servers; the test compares the responses.

import type { TestClient } from '../../../support/test-app.js';
import {
  type Apps,
  basic,
  newCode,
  exchangeForm,
  type FormParameters,
  postForm,
  type Case,
} from '../tested-server.js';

interface Credentials {
  form?: FormParameters;
  authorization?: string;
}

const UNKNOWN_CLIENT_ID = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';

/** The exchange of a new code with only these credentials. */
function exchange(
  name: string,
  proves: string | undefined,
  app: keyof Apps,
  credentials: (client: TestClient, secret: string, apps: Apps) => Credentials,
): Case {
  return {
    name: `client: ${name}`,
    proves,
    async send(server) {
      const client = server.apps[app];
      const { form, authorization } = credentials(client, client.secret ?? '', server.apps);
      const request = exchangeForm(client, await newCode(server, client));
      return postForm(server, '/oauth/token', { ...request, ...form }, authorization);
    },
  };
}

/** A malformed Authorization header. */
function header(name: string, authorization: string): Case {
  return exchange(`Authorization with ${name}`, 'O87', 'garden', () => ({ authorization }));
}

function encoded(text: string): string {
  return text.replaceAll('_', '%5F').replaceAll('-', '%2D');
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const valid: Case[] = [
  exchange('Basic with raw parts', 'O81', 'garden', ({ clientId }, secret) => ({
    authorization: basic(clientId, secret),
  })),
  exchange('Basic with encoded parts', 'O81', 'garden', ({ clientId }, secret) => ({
    authorization: basic(encoded(clientId), encoded(secret)),
  })),
  exchange('Basic written in lower case', 'O81', 'garden', ({ clientId }, secret) => ({
    authorization: basic(clientId, secret).replace('Basic', 'basic'),
  })),
  exchange('the secret in the body', 'O82', 'garden', ({ clientId }, secret) => ({
    form: { client_id: clientId, client_secret: secret },
  })),
  exchange('Basic and the same client_id in the body', 'O83', 'garden', ({ clientId }, secret) => ({
    form: { client_id: clientId },
    authorization: basic(clientId, secret),
  })),
  exchange('a public app by its id', 'O89', 'pocket', ({ clientId }) => ({
    form: { client_id: clientId },
  })),
  exchange('a public app by its id with an empty secret', 'O66', 'pocket', ({ clientId }) => ({
    form: { client_id: clientId, client_secret: '' },
  })),
  exchange('a public app by Basic with an empty password', 'O89', 'pocket', ({ clientId }) => ({
    authorization: basic(clientId, ''),
  })),
];

const invalid: Case[] = [
  exchange('Basic and the secret in the body', 'O83', 'garden', ({ clientId }, secret) => ({
    form: { client_id: clientId, client_secret: secret },
    authorization: basic(clientId, secret),
  })),
  exchange(
    'Basic and another client_id in the body',
    'O83',
    'garden',
    ({ clientId }, secret, apps) => ({
      form: { client_id: apps.library.clientId },
      authorization: basic(clientId, secret),
    }),
  ),
  exchange('a wrong secret in Basic', 'O84', 'garden', ({ clientId }, secret) => ({
    authorization: basic(clientId, `${secret}x`),
  })),
  exchange('a wrong secret in the body', 'O85', 'garden', ({ clientId }, secret) => ({
    form: { client_id: clientId, client_secret: `${secret}x` },
  })),
  exchange('the secret of another app', 'O85', 'garden', ({ clientId }, _, { library }) => ({
    form: { client_id: clientId, client_secret: library.secret },
  })),
  exchange('an unknown app in Basic', 'O86', 'garden', (_, secret) => ({
    authorization: basic(UNKNOWN_CLIENT_ID, secret),
  })),
  exchange('an unknown app in the body', 'O86', 'garden', (_, secret) => ({
    form: { client_id: UNKNOWN_CLIENT_ID, client_secret: secret },
  })),
  exchange('no credentials', undefined, 'garden', () => ({})),
  exchange('a secret without an app', undefined, 'garden', (_, secret) => ({
    form: { client_secret: secret },
  })),
  exchange('a public app with a secret in the body', 'O89', 'pocket', ({ clientId }) => ({
    form: { client_id: clientId, client_secret: 'x' },
  })),
  exchange('a public app with a secret in Basic', 'O89', 'pocket', ({ clientId }) => ({
    authorization: basic(clientId, 'x'),
  })),
  exchange('a confidential app without its secret', 'O88', 'garden', ({ clientId }) => ({
    form: { client_id: clientId },
  })),
  exchange('a confidential app with an empty secret', 'O88', 'garden', ({ clientId }) => ({
    form: { client_id: clientId, client_secret: '' },
  })),
  exchange(
    'a confidential app with an empty password in Basic',
    'O88',
    'garden',
    ({ clientId }) => ({
      authorization: basic(clientId, ''),
    }),
  ),
  exchange('client_secret twice', 'O65', 'garden', ({ clientId }, secret) => ({
    form: { client_id: clientId, client_secret: [secret, secret] },
  })),
];

const malformed: Case[] = [
  header('no credentials', 'Basic'),
  header('invalid base64', 'Basic %%%'),
  header('base64 without a colon', `Basic ${base64('svc_app_x')}`),
  header('only a colon', `Basic ${base64(':')}`),
  header('an empty id', `Basic ${base64(':secret')}`),
  header('control characters', `Basic ${base64('\u0000\u0001:\u007f')}`),
  header('a broken encoding', `Basic ${base64('svc%5:%zz')}`),
  header('another scheme', 'Bearer svcat_x'),
];

/** Client authentication (RFC 6749 §2.3, §5.2). */
export const clientAuthenticationCases: readonly Case[] = [...valid, ...invalid, ...malformed];
