import { gzipSync } from 'node:zlib';
import type { Member } from '../../support/member.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const BOMB_BYTES = 32 * 1024 * 1024;

export interface ExcessiveRequest {
  status: number;
  send: () => Promise<Response>;
}

/** Requests that each exceed one limit, with the status of the rejection. */
export function excessiveRequests(member: Member, postId: string): ExcessiveRequest[] {
  const publishBody = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
    member.postRaw('/posts', body, { ...JSON_TYPE, ...headers });
  const publish = (fields: object): Promise<Response> => publishBody(JSON.stringify(fields));
  const bomb = gzipSync(Buffer.alloc(BOMB_BYTES, ' '));
  const sendForm = (body: string): Promise<Response> =>
    member.app.fetch('/oauth/token', { method: 'POST', body: new URLSearchParams(body) });
  return [
    { status: 400, send: () => member.get('/posts?limit=51') },
    { status: 400, send: () => member.get('/posts?limit=1e9') },
    { status: 400, send: () => member.get('/posts?page=1000001') },
    { status: 400, send: () => member.get(`/posts/${postId}/comments?limit=101`) },
    { status: 413, send: () => publish({ content: 'x'.repeat(262_144) }) },
    {
      status: 413,
      send: () => member.postRaw('/posts', bomb, { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    },
    { status: 400, send: () => publish({ content: 'x'.repeat(10_001) }) },
    { status: 400, send: () => publishBody(`[${'{"content":"Hi"},'.repeat(1000)}{}]`) },
    {
      status: 400,
      send: () => publishBody(`{"content":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
    },
    { status: 400, send: () => publish({ images: Array(11).fill('https://images.example/') }) },
    { status: 400, send: () => publish({ content: 'Hi', tags: Array(21).fill('tag') }) },
    { status: 431, send: () => member.get(`/posts?${'x'.repeat(20_000)}`) },
    { status: 413, send: () => sendForm(`grant_type=${'x'.repeat(17_000)}`) },
    { status: 400, send: () => sendForm('a=1&'.repeat(101)) },
    {
      status: 400,
      send: () => publishBody('{"content":"Hi"}', { 'idempotency-key': 'k'.repeat(256) }),
    },
  ];
}
