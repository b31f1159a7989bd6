import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { publishedDocument } from '../support/published-document.js';
import {
  type CollectedResponse,
  ResponseCheck,
  collectFrom,
  collector,
} from '../support/response-collector.js';

const ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
const POST = {
  id: ID,
  content: 'Hello',
  tags: [],
  reachKm: null,
  visibility: 'public',
  permalink: `https://example.com/post/${ID}`,
  createdAt: '2026-11-21T09:30:00.000Z',
};
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'req_01kahq5f3veqdr8bn3tdmx3q0a',
  'cache-control': 'private, no-cache',
  etag: 'W/"1a"',
};

/** A valid response of `GET /dev/v1/posts/{id}`, changed by a test. */
function response(change: Partial<CollectedResponse> = {}, body: object = POST): CollectedResponse {
  return {
    method: 'GET',
    path: `/dev/v1/posts/${ID}`,
    status: 200,
    headers: HEADERS,
    body: JSON.stringify(body),
    ...change,
  };
}

describe('Check of a response against the OpenAPI document', () => {
  const check = new ResponseCheck(publishedDocument());
  const problems = (...given: Parameters<typeof response>) =>
    check.check(response(...given)).violations;

  it('C140 accepts a documented response', () => {
    expect(check.check(response())).toEqual({ operationId: 'getPost', violations: [] });
    const headers = { ...HEADERS, 'content-length': '3', vary: 'Origin' };
    for (const change of [{ headers }, { status: 304, body: '' }, { method: 'HEAD', body: '' }])
      expect(problems(change)).toEqual([]);
  });

  it('C140 reports the operation, the status and the path in the body', () => {
    expect(problems({}, { ...POST, tags: [1] })).toEqual([
      expect.stringMatching(/^getPost 200: the body at \/tags\/0 must be string/),
    ]);
  });

  const withoutEtag: Record<string, string> = { ...HEADERS };
  delete withoutEtag['etag'];

  it.each<[string, RegExp, Partial<CollectedResponse>, object?]>([
    ['an undocumented field', /colour/, {}, { ...POST, colour: 'red' }],
    ['a missing field', /permalink/, {}, { ...POST, permalink: undefined }],
    ['the id of another type', /\/id/, {}, { ...POST, id: 'usr_01kahq5f3veqdr8bn3tdmx3q0a' }],
    [
      'an undocumented field of a nested object',
      /listComments 200: the body at \/meta .*pages/,
      { path: `/dev/v1/posts/${ID}/comments` },
      { data: [], meta: { page: 1, limit: 20, total: 0, pages: 0 } },
    ],
    ['an undeclared status', /^getPost 418: the status is not declared$/, { status: 418 }],
    ['a missing required header', /etag is missing/i, { headers: withoutEtag }],
    [
      'a missing header of HEAD',
      /etag is missing/i,
      { method: 'HEAD', body: '', headers: withoutEtag },
    ],
    ['an undeclared header', /link is not decl/, { headers: { ...HEADERS, link: '<x>' } }],
    [
      'another value of a header',
      /cache-control.*allowed/i,
      { headers: { ...HEADERS, 'cache-control': 'public' } },
    ],
    [
      'another content type',
      /text\/html is not declared/,
      { headers: { ...HEADERS, 'content-type': 'text/html' } },
    ],
    ['invalid JSON', /^getPost 200: the body is not JSON$/, { body: '{' }],
    ['an undeclared body', /^getPost 304: a body is not declared$/, { status: 304, body: 'x' }],
  ])('C140 rejects %s', (_, problem, change, body) => {
    expect(problems(change, body)).toEqual([expect.stringMatching(problem)]);
  });

  it('C140 rejects an undocumented error code of an operation or a field', () => {
    const problemsOf = (status: number, error: string, errors?: object[]) =>
      problems(
        { status, headers: withoutEtag },
        { error, error_description: 'No.', request_id: 'x', errors, doc_url: 'https://x.example/' },
      );
    const errorsWith = (code: string) => [{ field: 'limit', code, message: 'No.' }];
    expect(problemsOf(404, 'not_found')).toEqual([]);
    expect(problemsOf(404, 'invalid_request').join()).toMatch(/getPost 404: the body at \/error/);
    expect(problemsOf(400, 'invalid_request', errorsWith('too_small'))).toEqual([]);
    expect(problemsOf(400, 'invalid_request', errorsWith('odd')).join()).toMatch(
      /\/errors\/0\/code/,
    );
    const path = '/oauth/token';
    const token = (error: string) =>
      check.check({
        ...response({ method: 'POST', path, status: 400 }, { error, error_description: 'No.' }),
        headers: { ...withoutEtag, 'cache-control': 'no-store' },
      });
    expect(token('invalid_grant')).toEqual({ operationId: 'token', violations: [] });
    expect(token('invalid_client').violations.join()).toMatch(/token 400: the body at \/error/);
  });

  it('rejects a Retry-After that is not a positive integer', () => {
    const unavailable = {
      error: 'service_unavailable',
      error_description: 'Later.',
      request_id: HEADERS['x-request-id'],
      doc_url: 'https://example.com/docs/errors#service_unavailable',
    };
    const given = (seconds: string) =>
      problems({ status: 503, headers: { ...withoutEtag, 'retry-after': seconds } }, unavailable);
    expect(given('5')).toEqual([]);
    for (const wrong of ['soon', '0', '1.5']) expect(given(wrong).join()).toMatch(/Retry-After/);
  });

  it.each([
    ['PUT', `/dev/v1/posts/${ID}`],
    ['GET', '/dev/v1/posts/'],
    ['GET', '/dev/v1/nothing'],
    ['GET', '/account/apps'],
  ])('finds no operation for %s %s', (method, path) => {
    expect(check.check(response({ method, path })).operationId).toBeNull();
  });
});

describe('Response collector', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((_, sent) => {
      for (const [name, value] of Object.entries(HEADERS)) sent.setHeader(name, value);
      sent.write('{"id":');
      sent.end('1}');
    });
    collectFrom(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it('C140 records a response before the client receives it', async () => {
    await (await fetch(`${url}/dev/v1/me`)).text();
    expect(collector.takeViolations().join('\n')).toMatch(
      /getMe 200: the body at .*\(GET \/dev\/v1\/me\)/,
    );
  });

  it('C140 counts responses by operation and status, and separately those without an operation', async () => {
    collector.takeCounts();
    await (await fetch(`${url}/dev/v1/me`)).text();
    await (await fetch(`${url}/elsewhere`)).text();
    collector.takeViolations();
    expect(collector.takeCounts()).toEqual({ 'getMe 200': 1, '-': 1 });
  });
});
