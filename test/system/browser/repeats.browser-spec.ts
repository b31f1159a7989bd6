import { randomUUID } from 'node:crypto';
import { inChromium } from '../../support/chromium.js';
import { Member, type PageBody, type PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { LossyProxy } from '../clients/lossy-proxy.js';

inChromium('Repeated requests', {}, (chrome) => {
  it('come from Chromium on a kept connection: two posts without a key, one with it', async () => {
    const member = await Member.join(chrome.app());
    const proxy = await LossyProxy.open(chrome.app().baseUrl);
    const page = await chrome.newPage();
    const publish = (key?: string): Promise<number> =>
      page.evaluate<number, [string, string | undefined]>(
        async ([token, given]) => {
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
          await (await fetch('/dev/v1/me', { headers })).text();
          const post = given === undefined ? headers : { ...headers, 'idempotency-key': given };
          const body = '{"content":"Free plums"}';
          return (await fetch('/dev/v1/posts', { method: 'POST', headers: post, body })).status;
        },
        [member.token, key],
      );
    const countPosts = async (): Promise<number> =>
      (await json<PageBody<PostBody>>(await member.get('/posts'))).data.length;
    try {
      await page.goto(`${proxy.url}/blank`);
      expect(await publish()).toBe(201);
      expect(proxy.attempts).toHaveLength(2);
      expect(await countPosts()).toBe(2);
      proxy.attempts = [];
      expect(await publish(randomUUID())).toBe(201);
      expect(proxy.attempts).toHaveLength(2);
      expect(await countPosts()).toBe(3);
    } finally {
      proxy.close();
    }
  });
});
