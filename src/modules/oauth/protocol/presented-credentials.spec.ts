import type { Request } from 'express';
import { OAuthInvalidRequest, MalformedBasic } from './oauth.errors.js';
import { Parameters } from './parameters.js';
import { claimedClientId, presentedCredentials } from './presented-credentials.js';

const ID = 'svc_app_01kahq5f3veqdr8bn3tdmx3q0a';
const SECRET = 'svc_sec_a-B_9';

const basic = (credentials: string): string =>
  `Basic ${Buffer.from(credentials).toString('base64')}`;

function requestWith(...authorization: string[]): Request {
  const headersDistinct = authorization.length === 0 ? {} : { authorization };
  return { headersDistinct } as unknown as Request;
}

const credentialsOf = (form: Record<string, unknown>, ...authorization: string[]) =>
  presentedCredentials(requestWith(...authorization), new Parameters(form));

describe('Client credentials of a request', () => {
  it.each([
    basic(`${ID}:${SECRET}`),
    basic(`${ID}:${SECRET}`).replace('Basic ', 'bAsIc   '),
    `${basic(`${ID}:${SECRET}`)}  `,
    basic(`${ID}:${SECRET}`).replace(/=+$/, ''),
    basic(`${ID.replaceAll('_', '%5F')}:${SECRET.replaceAll('-', '%2D')}`),
  ])('O81 reads the Authorization header %s', (header) => {
    expect(credentialsOf({}, header)).toEqual({ clientId: ID, secret: SECRET, basic: true });
  });

  it('O82 reads the credentials from the form', () => {
    const form = { client_id: ID, client_secret: SECRET };
    expect(credentialsOf(form)).toEqual({ clientId: ID, secret: SECRET, basic: false });
  });

  it('O83 accepts the same client_id in both places', () => {
    const header = basic(`${ID}:${SECRET}`);
    expect(credentialsOf({ client_id: ID }, header)).toMatchObject({
      clientId: ID,
      secret: SECRET,
    });
  });

  it.each([
    ['a secret in the header and in the form', { client_secret: SECRET }, 1],
    ['a client_id in the form that differs from the header', { client_id: 'other' }, 1],
    ['two headers', {}, 2],
  ])('O83 rejects %s', (_, form, headerCount) => {
    const sent = Array<string>(headerCount).fill(basic(`${ID}:${SECRET}`));
    expect(() => credentialsOf(form, ...sent)).toThrow(OAuthInvalidRequest);
  });

  it.each([
    '',
    'Basic',
    'Basic !',
    'Bearer x',
    basic(ID),
    basic(`%zz:${SECRET}`),
    basic(`${ID}:%`),
  ])('O84 rejects the malformed Authorization header %j and requires a challenge', (header) => {
    let error: unknown;
    try {
      credentialsOf({}, header);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(MalformedBasic);
    expect(error).toHaveProperty('headers.WWW-Authenticate');
  });

  it.each([
    ['Bearer svcat_x'],
    ['bearer svcat_x'],
    ['Bearer'],
    ['DPoP svcat_x'],
    ['Digest username="x"'],
    ['Basically x'],
    ['svcat_x'],
    [''],
    ['Bearer one', 'Bearer two'],
  ])('O87 ignores the Authorization header %j beside a client_id in the form', (...headers) => {
    const form = { client_id: ID, client_secret: SECRET };
    const presented = { clientId: ID, secret: SECRET, basic: false };
    expect(credentialsOf(form, ...headers)).toEqual(presented);
  });

  it('O87 reads Basic beside a header of another scheme and a client_id in the form', () => {
    const headers = ['Bearer svcat_x', basic(`${ID}:${SECRET}`)];
    expect(credentialsOf({ client_id: ID }, ...headers)).toMatchObject({ secret: SECRET });
  });

  it.each(['Basic', 'Basic !', 'basic\tx', basic(ID)])(
    'O87 rejects the malformed header %j, also beside credentials in the form',
    (header) => {
      const form = { client_id: ID, client_secret: SECRET };
      expect(() => credentialsOf(form, header)).toThrow(MalformedBasic);
    },
  );

  it.each([
    ['the header', {}, [basic(`${ID}:`)]],
    ['the form', { client_id: ID, client_secret: '' }, []],
  ])('O66 treats an empty secret in %s as omitted', (_, form, headers) => {
    expect(credentialsOf(form, ...headers)).toMatchObject({ clientId: ID, secret: undefined });
  });

  it.each([
    ['in the header', {}, [basic(`${ID}:x`)], ID],
    ['in the form', { client_id: ID }, [], ID],
    ['in both places', { client_id: ID }, [basic(`${ID}:x`)], ID],
  ])('O131 attributes an attempt to the app with the client_id %s', (_, form, headers, claimed) => {
    expect(claimedClientId(requestWith(...headers), new Parameters(form))).toBe(claimed);
  });

  it.each([
    ['without a client_id', {}, []],
    ['with different client_ids in two places', { client_id: 'other' }, [basic(`${ID}:x`)]],
    ['with a repeated client_id', { client_id: [ID, 'other'] }, []],
  ])('O131 attributes an attempt %s to no app', (_, form, headers) => {
    expect(claimedClientId(requestWith(...headers), new Parameters(form))).toBeUndefined();
  });
});
