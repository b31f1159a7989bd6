import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import type { AppConfig } from '../../config/app-config.js';
import { ServiceUnavailable } from '../../errors.js';
import { Bulkhead, type Permit } from './bulkhead.js';

/** Five permits for each connection. */
const PERMITS = 10;
const PER_APP = 5;
const QUEUE_LIMIT = 3;
const QUEUE_TIMEOUT_MS = 200;

describe('Bulkhead', () => {
  let bulkhead: Bulkhead;
  beforeEach(() => {
    const database = { poolSize: 2, queueLimit: QUEUE_LIMIT, queueTimeoutMs: QUEUE_TIMEOUT_MS };
    bulkhead = new Bulkhead({ database } as AppConfig);
  });

  /** A request that has its permit, before authentication. */
  async function admitted(): Promise<Permit> {
    const request = { context: {} } as Request;
    const response = Object.assign(new EventEmitter(), { headersSent: false });
    await bulkhead.admit(request, response as unknown as Response);
    return request.context.permit as Permit;
  }

  /** Requests of an app that run. */
  async function running(app: string, count: number): Promise<Permit[]> {
    const permits = [];
    while (permits.length < count) {
      const permit = await admitted();
      expect(permit.assign(app)).toBe(true);
      permits.push(permit);
    }
    return permits;
  }

  /** Requests of an app that wait, with the names of those that got their permit, in order. */
  async function waitingRequests(app: string, names: string[], started: string[]) {
    const permits = [];
    for (const name of names) {
      const permit = await admitted();
      Promise.resolve(permit.assign(app)).then(
        () => started.push(name),
        () => started.push(`${name} failed`),
      );
      permits.push(permit);
    }
    return permits;
  }

  it('C27 lets an app hold half of the permits, and others the rest', async () => {
    await running('busy', PER_APP);
    const waiting = (await admitted()).assign('busy');
    expect(waiting).not.toBe(true);
    await running('other', PER_APP);
    expect(bulkhead.waiting).toBe(1);
    await expect(waiting).rejects.toThrow(ServiceUnavailable);
  });

  it('passes permits of the app on, first come first served', async () => {
    const permits = await running('busy', PER_APP);
    const started: string[] = [];
    await waitingRequests('busy', ['first', 'second', 'third'], started);
    permits[0]?.end();
    permits[1]?.end();
    await expect.poll(() => started).toEqual(['first', 'second']);
    expect(bulkhead.waiting).toBe(1);
  });

  it('C27 serves new requests before the waiting requests of apps that hold half of the permits', async () => {
    const [busy] = await running('busy', PER_APP);
    const started: string[] = [];
    await waitingRequests('busy', ['first'], started);
    await running('other', PER_APP);
    const next = admitted();
    void next.then(() => started.push('new'));
    expect(bulkhead.waiting).toBe(2);
    busy?.end();
    (await next).end();
    await expect.poll(() => started).toEqual(['new', 'first']);
  });

  it('C27 passes the permit of a new request to the oldest waiting request of its app', async () => {
    const [busy] = await running('busy', PER_APP);
    const started: string[] = [];
    await waitingRequests('busy', ['first'], started);
    const [other] = await running('other', PER_APP);
    const next = admitted();
    const afterNext = admitted();
    void afterNext.then(() => started.push('after next'));
    busy?.end();
    Promise.resolve((await next).assign('busy')).then(
      () => started.push('next'),
      () => started.push('next failed'),
    );
    await expect.poll(() => started).toEqual(['first']);
    other?.end();
    await expect.poll(() => started).toEqual(['first', 'after next', 'next failed']);
  });

  it('serves requests whose body has arrived before new requests', async () => {
    const [receiving] = await running('one', 1);
    receiving?.suspend(0);
    const others = [...(await running('two', PER_APP)), ...(await running('three', PER_APP))];
    const started: string[] = [];
    void admitted().then(() => started.push('new'));
    void receiving?.resume().then(() => started.push('resumed'));
    others[0]?.end();
    others[1]?.end();
    await expect.poll(() => started).toEqual(['resumed', 'new']);
  });

  it('keeps the permits of other apps free', async () => {
    await running('busy', PER_APP);
    const [other] = await running('other', 1);
    const started: string[] = [];
    await waitingRequests('busy', ['first'], started);
    other?.end();
    await running('other', PER_APP);
    expect(started).toEqual([]);
  });

  it('rejects a request at once if the queue of the app is full, and only of this app', async () => {
    await running('busy', PER_APP);
    await waitingRequests('busy', ['first', 'second', 'third'], []);
    const next = await admitted();
    expect(() => next.assign('busy')).toThrow(ServiceUnavailable);
    expect((await admitted()).assign('other')).toBe(true);
  });

  it('rejects a waiting request after the timeout', async () => {
    await running('busy', PER_APP);
    const startedAt = performance.now();
    await expect((await admitted()).assign('busy')).rejects.toThrow(ServiceUnavailable);
    expect(performance.now() - startedAt).toBeGreaterThan(QUEUE_TIMEOUT_MS - 5);
    expect(bulkhead.waiting).toBe(0);
  });

  it('lets apps take turns', async () => {
    const requests = [...(await running('one', 2)), ...(await running('two', 1))];
    for (const permit of requests) permit.suspend(0);
    const others = [];
    while (others.length < PERMITS) others.push(await admitted());
    const started: number[] = [];
    for (const [index, permit] of requests.entries())
      void permit.resume().then(() => started.push(index));
    for (const permit of others.slice(0, 3)) permit.end();
    await expect.poll(() => started).toEqual([0, 2, 1]);
  });

  it('does not count a request while its body arrives, and counts it again afterwards', async () => {
    const [receiving] = await running('busy', PER_APP);
    receiving?.suspend(0);
    const [next] = await running('busy', 1);
    const resumed = receiving?.resume();
    expect(bulkhead.waiting).toBe(1);
    next?.end();
    await resumed;
    await expect((await admitted()).assign('busy')).rejects.toThrow(ServiceUnavailable);
  });

  it('forgets a waiting request whose client disconnects', async () => {
    await running('busy', PER_APP);
    const permit = await admitted();
    const waiting = permit.assign('busy');
    permit.disconnect(false);
    await expect(waiting).rejects.toThrow(ServiceUnavailable);
    expect(bulkhead.waiting).toBe(0);
    await running('other', PER_APP);
  });

  it('has all permits again after its requests have ended', async () => {
    const permits = [...(await running('one', PER_APP)), ...(await running('two', PER_APP))];
    for (const permit of permits) permit.end();
    await running('three', PER_APP);
    await running('four', PERMITS - PER_APP);
    expect(bulkhead.waiting).toBe(0);
  });
});
