import { SmsInbox } from '../../../../test/support/doubles.js';
import { SmsQueue } from './sms-queue.js';

const MESSAGE = { to: '+14155550101', text: '123456' };

describe('The queue of text messages', () => {
  it('sends nothing before the request that asked has had its turn', async () => {
    const inbox = new SmsInbox();
    new SmsQueue(inbox).add(MESSAGE);
    await Promise.resolve();
    expect(inbox.messages).toEqual([]);
    await expect.poll(() => inbox.messages).toEqual([MESSAGE]);
  });

  it('has sent everything when the service has ended', async () => {
    const inbox = new SmsInbox();
    const queue = new SmsQueue(inbox);
    queue.add(MESSAGE);
    await queue.onApplicationShutdown();
    expect(inbox.messages).toEqual([MESSAGE]);
  });
});
