import { verifyWebhook, WebhookError } from '../../clients/typescript/src/index.js';
import { onOneEngine } from '../support/database.js';
import { useListeningMember } from '../support/events.js';
import {
  EVENT,
  EVENTS,
  SECRET,
  signed,
  type SignedRequest,
  signedWithoutSecret,
} from '../support/signed-events.js';
import { useTestApp } from '../support/test-app.js';

const headersOf = ({ id, timestamp, signature }: SignedRequest): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
});

describe('verifyWebhook', () => {
  it.each(EVENTS)('$result $title', async ({ request, result }) => {
    const event = request(Date.now());
    const verified = verifyWebhook(event.body, headersOf(event), SECRET);
    if (result === 'accept') expect(await verified).toEqual(EVENT);
    else await expect(verified).rejects.toThrow(WebhookError);
  });

  it('accepts the headers of fetch, of Node.js and of hosts that write them in capitals, and the body as bytes', async () => {
    const event = signed(Date.now());
    const headers = headersOf(event);
    const capitals = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
    for (const one of [
      new Headers(headers),
      { ...headers, 'set-cookie': ['a=b'], accept: undefined },
      Object.fromEntries(capitals) as Record<string, string>,
    ])
      expect(await verifyWebhook(Buffer.from(event.body), one, SECRET)).toEqual(EVENT);
  });

  it('names the header that is wrong', async () => {
    const event = signed(Date.now());
    for (const [name, wrong] of [
      ['webhook-timestamp', { ...event, timestamp: 'now' }],
      ['webhook-timestamp', { ...event, timestamp: '' }],
      ['webhook-signature', { ...event, signature: '' }],
    ] as const)
      await expect(verifyWebhook(event.body, headersOf(wrong), SECRET)).rejects.toMatchObject({
        name: 'WebhookError',
        header: name,
      });
  });

  it.each(['', 'whsec_', 'svc_sec_x'])('throws TypeError for the secret "%s"', async (secret) => {
    const event = signedWithoutSecret(Date.now());
    const verified = verifyWebhook(event.body, headersOf(event), secret);
    await expect(verified).rejects.toThrow(TypeError);
  });
});

onOneEngine('Events with the TypeScript client', (database) => {
  const app = useTestApp(database);
  const { member, receiver, secret, delivered } = useListeningMember(app);

  it('are verified, with the type of each event', async () => {
    const { id: postId } = await member().publish();
    const { id, text } = await member().comment(postId);
    await delivered();
    const [{ at, headers, body } = { at: new Date(), headers: {}, body: '' }] =
      receiver().deliveries;
    vi.useFakeTimers({ toFake: ['Date'], now: at });
    onTestFinished(() => void vi.useRealTimers());
    const event = await verifyWebhook(body, headers, secret());
    if (event.type !== 'comment.created') throw new Error(`The event is ${event.type}.`);
    expect(event.data).toMatchObject({ userId: member().user.id, postId, comment: { id } });
    expect('text' in event.data.comment && event.data.comment.text).toBe(text);
    // @ts-expect-error Only `quota.threshold` has a percentage.
    expect(event.data.percent).toBeUndefined();
  });
});
