import { WebhookEndpoint, type WebhookEvent } from '../../src/modules/events/event.entities.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { WebhookEndpoints } from '../../src/modules/webhooks/webhook-endpoints.service.js';
import { WebhookWorker } from '../../src/modules/webhooks/webhook-worker.service.js';
import { WebhooksRepository } from '../../src/modules/webhooks/webhooks.repository.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { onEachEngine } from '../support/database.js';
import { setEndpoint, useListeningMember } from '../support/events.js';
import { Member } from '../support/member.js';
import { RawReceiver } from '../support/raw-receiver.js';
import { useTestApp } from '../support/test-app.js';

const CHANGE = { actor: 'operator' };
const DAY = 86_400_000;
const TIMEOUT_MS = 30_000;

onEachEngine('Attacks on events', (database) => {
  const app = useTestApp(database);
  const { member, receiver, secret, listen, delivered } = useListeningMember(app);
  const clientId = (): string => member().client.clientId;
  const endpoints = (): WebhookEndpoints => app().service(WebhookEndpoints);
  const worker = (): WebhookWorker => app().service(WebhookWorker);
  const rows = (): Promise<WebhookEvent[]> => endpoints().deliveries(clientId(), 1000);
  const outcomes = async (): Promise<unknown[]> => (await rows()).map(({ outcome }) => outcome);

  /** Events that wait, about a comment on a post of the member. */
  async function commentWaits(text = 'Count me in'): Promise<string> {
    const { id } = await member().publish();
    await member().comment(id, text);
    return id;
  }

  async function rotate(graceMs: number): Promise<string> {
    let secretShown = '';
    await endpoints().rotateSecret(clientId(), graceMs, CHANGE, async (_endpoint, one) => {
      secretShown = one;
    });
    return secretShown;
  }

  describe('about the member of another app', () => {
    it('reach only apps with a grant of this member', async () => {
      const stranger = await Member.join(app());
      await listen(stranger.client.clientId);
      const postId = await commentWaits();
      const comment = await member().comment(postId);
      await member().delete(`/comments/${comment.id}`);
      await app().service(GrantsService).revokeForUser(member().user.id, 'all', CHANGE);
      await delivered();
      expect(await endpoints().deliveries(stranger.client.clientId, 10)).toEqual([]);
    });

    it.each<[string, () => Promise<unknown>]>([
      [
        'withdrawn access',
        () => app().service(GrantsService).revokeForUser(member().user.id, [clientId()], CHANGE),
      ],
      [
        'a withdrawn scope',
        () =>
          app()
            .service(TransactionRunner)
            .run((tx) =>
              app()
                .service(GrantsService)
                .withdraw(tx, member().user.id, clientId(), ['posts.read']),
            ),
      ],
      [
        'an expired grant',
        () =>
          app().dataSource.manager.update(
            Grant,
            { userId: member().user.id },
            { expiresAt: app().clock.now() },
          ),
      ],
      [
        'a blocked member',
        () => app().service(UsersService).changeStatus(member().user.id, 'blocked', CHANGE),
      ],
      [
        'an app that is no longer registered for the scope',
        () => app().service(AppsService).update(clientId(), { scope: 'posts.write' }, CHANGE),
      ],
    ])('are not sent after %s', async (_what, change) => {
      await commentWaits();
      await change();
      expect((await delivered()).filter(({ type }) => type === 'comment.created')).toEqual([]);
      expect(await outcomes()).toContain('withdrawn');
    });

    it('are not sent to a test app, even if a real member has a grant to it', async () => {
      const client = await app().addClient({ test: true });
      const { clientId: testId } = client;
      await app().issueTokens(member().user, client);
      await listen(testId);
      await commentWaits();
      await delivered().catch(() => undefined);
      expect(await endpoints().deliveries(testId, 10)).toMatchObject([{ outcome: 'withdrawn' }]);
      expect(receiver().deliveries).toHaveLength(1);
    });

    it('are neither stored nor sent while the app is disabled', async () => {
      const other = await Member.join(app(), { user: member().user });
      await listen(other.client.clientId);
      const postId = await commentWaits();
      await app().service(AppsService).changeStatus(clientId(), 'disabled', CHANGE);
      await other.comment(postId);
      await delivered().catch(() => undefined);
      expect(await outcomes()).toEqual([null]);
      expect(await endpoints().deliveries(other.client.clientId, 10)).toHaveLength(2);
      await app().service(AppsService).changeStatus(clientId(), 'enabled', CHANGE);
      await delivered().catch(() => undefined);
      expect(await outcomes()).toEqual(['delivered']);
    });
  });

  describe('that change during a slow delivery', () => {
    /** More events than a batch has wait for an endpoint that needs three seconds, and four are being sent. */
    async function slowDelivery(): Promise<string> {
      const { id: postId } = await member().publish();
      for (let count = 0; count < 40; count += 1) await member().comment(postId, `No. ${count}`);
      receiver().answer = { status: 204, delayMs: 3000 };
      await worker().deliverDue();
      await expect.poll(() => receiver().deliveries.length).toBe(4);
      return postId;
    }

    it.each<[string, () => Promise<unknown>]>([
      [
        'the access ends',
        () => app().service(GrantsService).revokeForUser(member().user.id, [clientId()], CHANGE),
      ],
      [
        'the app is disabled',
        () => app().service(AppsService).changeStatus(clientId(), 'disabled', CHANGE),
      ],
      ['the endpoint is disabled', () => endpoints().switch(clientId(), false, CHANGE)],
    ])(
      'stop when %s',
      async (_what, change) => {
        await slowDelivery();
        await change();
        receiver().answer = { status: 204 };
        await worker().idle();
        await worker().deliverDue();
        await worker().idle();
        const sent = receiver().events(secret());
        expect(sent.filter(({ type }) => type === 'comment.created')).toHaveLength(4);
      },
      TIMEOUT_MS,
    );

    it(
      'show no comment that was deleted, and are signed with the new secret only after a leak',
      async () => {
        const postId = await slowDelivery();
        const { data } = (await (
          await member().get(`/posts/${postId}/comments?limit=50`)
        ).json()) as { data: { id: string }[] };
        for (const { id } of data) await app().service(CommentsService).remove(id, CHANGE);
        const next = await rotate(0);
        receiver().answer = { status: 204 };
        await worker().idle();
        receiver().deliveries.splice(0, 4);
        await worker().deliverDue();
        await worker().idle();
        const events = receiver().events(next);
        expect(events.length).toBeGreaterThan(36);
        expect(JSON.stringify(events)).not.toContain('No. ');
      },
      TIMEOUT_MS,
    );

    it(
      'do not disable the new endpoint that an operator set in the meantime',
      async () => {
        receiver().answer = { status: 410, delayMs: 500 };
        await endpoints().test(clientId());
        await worker().deliverDue();
        await expect.poll(() => receiver().deliveries.length).toBe(1);
        await listen(clientId(), `${receiver().url}/new`);
        await worker().idle();
        expect(await endpoints().get(clientId())).toMatchObject({
          url: `${receiver().url}/new`,
          disabledAt: null,
          failingSince: null,
        });
        expect(await rows()).toMatchObject([{ attempts: 1, lastResult: '410' }]);
      },
      TIMEOUT_MS,
    );

    it('do not free the endpoint of another process, whose lease is newer', async () => {
      receiver().answer = { status: 204, delayMs: 500 };
      await endpoints().test(clientId());
      await worker().deliverDue();
      await expect.poll(() => receiver().deliveries.length).toBe(1);
      const leasedUntil = new Date(app().clock.now().getTime() + DAY);
      const { manager } = app().dataSource;
      await manager.update(WebhookEndpoint, { clientId: clientId() }, { leasedUntil });
      await worker().idle();
      expect(await endpoints().get(clientId())).toMatchObject({ leasedUntil });
      expect(await outcomes()).toEqual(['delivered']);
    });
  });

  describe('of secrets', () => {
    it('verify only with the id, time and body that were signed', async () => {
      await endpoints().test(clientId());
      await delivered();
      const [sent] = receiver().deliveries;
      if (!sent) throw new Error('Nothing was delivered.');
      const forged = [
        { ...sent, body: sent.body.replace('webhook.test', 'grant.revoked') },
        { ...sent, headers: { ...sent.headers, 'webhook-id': 'msg_x' } },
        { ...sent, headers: { ...sent.headers, 'webhook-timestamp': '1' } },
        { ...sent, at: new Date(sent.at.getTime() + 6 * 60_000) },
      ];
      for (const one of forged) {
        receiver().deliveries.splice(0, 1, one);
        expect(() => receiver().events(secret())).toThrow(/signature|too old/);
      }
      const other = await app().addClient();
      receiver().deliveries.splice(0, 1, sent);
      const secretOfOther = await listen(other.clientId);
      expect(() => receiver().events(secretOfOther)).toThrow('No matching signature');
    });

    it('keep the new one if another operator sets the URL at the same time', async () => {
      const [next] = await Promise.all([
        rotate(0),
        listen(clientId(), `${receiver().url}/other`),
        listen(clientId(), `${receiver().url}/other`),
      ]);
      await endpoints().test(clientId());
      await worker().deliverDue();
      await worker().idle();
      expect(receiver().events(next)).toHaveLength(1);
    });

    it('are created by one of several operators at once, and the others are told so', async () => {
      const results = await Promise.allSettled([rotate(0), rotate(0), rotate(0)]);
      const created = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      expect(created).toContain(endpoints().secretOf(await endpoints().get(clientId())));
      for (const one of results)
        if (one.status === 'rejected')
          expect(String(one.reason)).toContain('Another operator has just created a new secret');
    });

    it('are shown to one of several operators who set a new endpoint at once', async () => {
      const { clientId: id } = await app().addClient();
      const shown = await Promise.all([1, 2, 3].map(() => listen(id)));
      const current = endpoints().secretOf(await endpoints().get(id));
      expect(shown.toSorted()).toEqual(['', '', current]);
    });
  });

  describe('with many endpoints', () => {
    it(
      'use two connections to the database at once, so that others are left to API requests',
      async () => {
        for (let number = 0; number < 30; number += 1) {
          const { clientId: id } = await app().addClient();
          await listen(id);
          await endpoints().test(id);
        }
        const repository = app().service(WebhooksRepository);
        let open = 0;
        let most = 0;
        for (const name of ['lease', 'findDue', 'update'] as const) {
          const original = repository[name].bind(repository) as (...args: never[]) => never;
          const counted = async (...args: never[]): Promise<never> => {
            open += 1;
            most = Math.max(most, open);
            return Promise.resolve(original(...args)).finally(() => {
              open -= 1;
            });
          };
          vi.spyOn(repository, name).mockImplementation(counted as never);
        }
        await worker().deliverDue();
        await worker().idle();
        vi.restoreAllMocks();
        expect(receiver().deliveries).toHaveLength(30);
        expect(most).toBe(2);
      },
      TIMEOUT_MS,
    );

    it(
      'wait for no endpoint that is slow, or that changes the protocol',
      async () => {
        const hostile = [
          await RawReceiver.start(() => undefined),
          await RawReceiver.start('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
        ];
        for (const { url } of hostile) {
          const { clientId: id } = await app().addClient();
          await setEndpoint(app(), id, url);
          for (let count = 0; count < 4; count += 1) await endpoints().test(id);
        }
        await endpoints().test(clientId());
        await worker().deliverDue();
        await expect.poll(() => receiver().deliveries.length, { timeout: 3000 }).toBe(1);
        await Promise.all(hostile.map((one) => one.stop()));
        await worker().idle();
      },
      TIMEOUT_MS,
    );
  });
});
