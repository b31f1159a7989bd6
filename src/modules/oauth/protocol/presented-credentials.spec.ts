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

const HEADER = basic(`${ID}:${SECRET}`);
const FORM = { client_id: ID, client_secret: SECRET };

describe('Client credentials of a request', () => {
  it.each([
    HEADER,
    HEADER.replace('Basic ', 'bAsIc   '),
    `${HEADER}  `,
    HEADER.replace(/=+$/, ''),
    basic(`${ID.replaceAll('_', '%5F')}:${SECRET.replaceAll('-', '%2D')}`),
  ])('O81 O83 reads the header %s, also beside the same credentials in the form', (header) => {
    for (const form of [{}, { client_id: ID }, { client_secret: SECRET }, FORM])
      expect(credentialsOf(form, header)).toEqual({ clientId: ID, secret: SECRET, basic: true });
  });

  it.each([
    [],
    ['Bearer svcat_x'],
    ['bearer svcat_x'],
    ['Bearer'],
    ['DPoP svcat_x'],
    ['Digest username="x"'],
    ['Basically x'],
    ['svcat_x'],
    [''],
    ['Bearer one', 'Bearer two'],
  ])('O82 O87 reads the form, beside the header %j', (...headers) => {
    expect(credentialsOf(FORM, ...headers)).toEqual({ clientId: ID, secret: SECRET, basic: false });
  });

  it('O87 reads Basic beside a header of another scheme and a client_id in the form', () => {
    expect(credentialsOf({ client_id: ID }, 'Bearer svcat_x', HEADER)).toMatchObject({
      secret: SECRET,
    });
  });

  it.each([
    ['a secret in the form that differs', { client_secret: `${SECRET}x` }, [HEADER]],
    ['a secret in the form that is encoded', { client_secret: 'svc_sec_a%2DB_9' }, [HEADER]],
    ['a secret in the form beside an empty one', FORM, [basic(`${ID}:`)]],
    ['a secret in another letter case', { client_secret: SECRET.toUpperCase() }, [HEADER]],
    ['a client_id in the form that differs', { client_id: 'other' }, [HEADER]],
    ['two headers', {}, [HEADER, HEADER]],
  ])('O83 rejects %s', (_, form, headers) => {
    expect(() => credentialsOf(form, ...headers)).toThrow(OAuthInvalidRequest);
  });

  it.each([
    ['', {}],
    ['Bearer x', {}],
    [basic(`%zz:${SECRET}`), {}],
    [basic(`${ID}:%`), {}],
    ['Basic', FORM],
    ['Basic !', FORM],
    ['basic\tx', FORM],
    [basic(ID), FORM],
  ])('O84 O87 rejects the malformed header %j with a challenge, beside %j', (header, form) => {
    expect(() => credentialsOf(form, header)).toThrow(
      expect.objectContaining({
        constructor: MalformedBasic,
        headers: expect.objectContaining({ 'WWW-Authenticate': expect.any(String) }),
      }),
    );
  });

  it.each([
    ['the header', {}, [basic(`${ID}:`)]],
    ['the form', { ...FORM, client_secret: '' }, []],
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
