import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type Request, type Response } from 'express';
import { readForm } from './form-body.js';
import { OAuthInvalidRequest } from './oauth.errors.js';

const FORM = 'application/x-www-form-urlencoded';

/** Reads a request with this body and these headers, and returns its parameters. */
async function read(
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': FORM },
): Promise<Record<string, unknown>> {
  const message = new IncomingMessage(new Socket());
  const length = String(Buffer.byteLength(body));
  message.headers = { 'content-length': length, ...headers };
  message.push(body);
  message.push(null);
  const request = Object.setPrototypeOf(message, express.request) as Request;
  request.context = { requestId: 'req_1', receivedAt: new Date(), address: null, violations: [] };
  await readForm(request, new ServerResponse(message) as Response, 1000);
  return request.body as Record<string, unknown>;
}

const parameters = (count: number): string =>
  Array.from({ length: count }, (_, number) => `p${number}=1`).join('&');

describe('readForm', () => {
  // `request-body.spec.ts` has more types.
  it('O62 reads a form in UTF-8, and no other type', async () => {
    const type = `${FORM}; charset=utf8; boundary=x`;
    expect(await read('a=1&b=%C3%A9+x', { 'content-type': type })).toEqual({ a: '1', b: 'é x' });
    const others: Record<string, string>[] = [{}, { 'content-type': `${FORM}-not` }];
    for (const headers of others)
      await expect(read('a=1', headers)).rejects.toBeInstanceOf(OAuthInvalidRequest);
    const headers = { 'content-type': `${FORM}; charset=ISO-8859-1` };
    await expect(read('a=1', headers)).rejects.toThrow(/^The body must be UTF-8/);
  });

  it('O62 reads an empty body as a form without parameters', async () => {
    expect(await read('')).toEqual({});
  });

  it('O65 preserves repeated parameters and brackets, which the endpoints reject', async () => {
    expect(await read('a=1&a=2&b[]=3&c[d]=4')).toEqual({ a: ['1', '2'], 'b[]': '3', 'c[d]': '4' });
  });

  it.each([
    ['a broken percent-encoding', 'a=%zz'],
    ['an incomplete percent-encoding', 'a=%4'],
    ['percent-encoded bytes that are not UTF-8', 'a=%ff'],
    ['raw bytes that are not UTF-8', Buffer.concat([Buffer.from('a='), Buffer.of(0xff)])],
    ['101 parameters', parameters(101)],
  ])('O65 rejects %s', async (_, body) => {
    await expect(read(body)).rejects.toBeInstanceOf(OAuthInvalidRequest);
  });

  it('O65 reads 100 parameters', async () => {
    expect(Object.keys(await read(parameters(100)))).toHaveLength(100);
  });

  it.each(['gzip', 'br', 'deflate', 'snappy'])(
    'O65 rejects a body that does not match its Content-Encoding %s',
    async (coding) => {
      const headers = { 'content-type': FORM, 'content-encoding': coding };
      await expect(read('a=1', headers)).rejects.toBeInstanceOf(OAuthInvalidRequest);
    },
  );
});
