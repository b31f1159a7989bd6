import type { Page } from 'playwright-core';
import {
  expectAccessible,
  inChromium,
  contextOptions,
  PREFERENCES,
} from '../../support/chromium.js';
import { Member } from '../../support/member.js';

inChromium('Post page', {}, (chrome) => {
  const { app } = chrome;
  let member: Member;
  beforeEach(async () => {
    const user = await app().addUser({ name: 'Ana Lee', neighborhood: 'Riverside' });
    member = await Member.join(app(), { user });
  });

  async function publishAndOpen(page: Page, post: object): Promise<void> {
    await page.goto((await member.publish(post)).permalink);
  }

  it('keeps line breaks and shows HTML as text, without JavaScript', async () => {
    const page = await chrome.newPage({ javaScriptEnabled: false });
    const content = 'One line.\nAnother <b>line</b>.\r\n\r\n  A third & last.';
    await publishAndOpen(page, { title: '<i>Block</i> party', content });
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('<i>Block</i> party');
    expect(await page.locator('.post-content').innerText()).toBe(content.replaceAll('\r\n', '\n'));
    expect(chrome.consoleErrors).toEqual([]);
  });

  it('loads nothing from other origins and links to images without a referrer', async () => {
    const page = await chrome.newPage();
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).host));
    await publishAndOpen(page, { images: ['https://images.example/party.jpg'] });
    expect(new Set(loaded)).toEqual(new Set([new URL(app().baseUrl).host]));
    const link = page.getByRole('link', { name: 'Image 1 on images.example' });
    expect(await link.getAttribute('rel')).toBe('nofollow noopener ugc');
    expect(chrome.consoleErrors).toEqual([]);
  });

  it.each(PREFERENCES)(
    'C143 is accessible, in $colours colours and in $language',
    async (preferences) => {
      const page = await chrome.newPage(contextOptions(preferences));
      const content =
        'Bring a chair and something to share. We start at noon, rain or shine.\n\nWhat we still need:\n- a grill\n- 20 m of cable\n- Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft\n\nאין צורך להירשם.';
      await publishAndOpen(page, {
        title: 'Block party on Saturday',
        content,
        tags: ['party', 'Saturday', 'lost and found', 'x'.repeat(50)],
        images: ['https://images.example/party.jpg', 'https://images.example/map.png'],
      });
      await expectAccessible(page, 'post', preferences);
      await publishAndOpen(page, { images: ['https://images.example/party.jpg'] });
      await expectAccessible(page, 'post-untitled', preferences);
      await page.goto(`${app().baseUrl}/post/x`);
      await expectAccessible(page, 'post-absent', preferences);
    },
  );
});
