import { loadConfig } from '../platform/config/load-config.js';
import { PageRenderer } from './page-renderer.js';
import type { PostView } from './views.js';

const renderer = new PageRenderer(loadConfig({}));
const post: PostView = {
  title: 'Block party',
  content: 'Bring a chair.\r\n\nAnd a friend.',
  author: 'Ana Lee',
  neighborhood: 'Riverside',
  createdAt: new Date('2026-11-21T23:59:59.999Z'),
  tags: ['party', 'Saturday'],
  images: [],
};
const message = { title: 'Expired', paragraphs: ['Start again at the app.'] };
const standard = renderer.render('post', post, 'en');
const minimal = renderer.render(
  'post',
  { ...post, ...{ title: null, content: null, neighborhood: null, tags: [] } },
  'en',
);

function tagsOf(html: string, element: string): string[] {
  return html.match(new RegExp(`<${element}\\b[^>]*>`, 'g')) ?? [];
}

describe('Page of a post', () => {
  it('shows the title as heading and page title, and the author, neighborhood and time', () => {
    expect(standard).toContain('<h1 dir="auto">Block party</h1>');
    expect(standard).toContain('<title>Block party – ');
    for (const text of ['<bdi>Ana Lee</bdi>', '<bdi>Riverside</bdi>', '<bdi>party</bdi>'])
      expect(standard).toContain(text);
    expect(standard).toContain(
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
    );
  });

  it('preserves the whitespace of the content', () => {
    expect(standard).toContain('dir="auto">Bring a chair.\r\n\nAnd a friend.</p>');
  });

  it('has a heading with the author if the post has no title, and omits empty fields', () => {
    const html = minimal;
    expect(html).toContain('<h1 dir="auto">A post by Ana Lee</h1>');
    expect(html).not.toMatch(/class="post-content"|Tags|Images|>In</);
  });

  it('links to images by host with nofollow, and loads none', () => {
    const images = ['https://images.example/1.jpg?a="1"&b=2', 'http://bücher.example:8080/2.png'];
    const html = renderer.render('post', { ...post, images }, 'en');
    expect(tagsOf(html, 'a')).toEqual([
      '<a href="https://images.example/1.jpg?a=&quot;1&quot;&amp;b=2" rel="nofollow noopener ugc">',
      '<a href="http://bücher.example:8080/2.png" rel="nofollow noopener ugc">',
    ]);
    expect(html).toContain('>Image 1 on images.example</a>');
    expect(html).toContain('>Image 2 on xn--bcher-kva.example:8080</a>');
    expect(html).not.toContain('<img');
  });

  it('shows the host of an invalid URL unchanged', () => {
    const html = renderer.render(
      'post',
      { ...post, images: ['https://xn--a.example/1.png'] },
      'en',
    );
    expect(html).toContain('>Image 1 on xn--a.example</a>');
  });

  it('C69 escapes every text that the author wrote', () => {
    const hostile = '<script>alert("1")</script>{{7*7}}${7*7}<%= 7*7 %>';
    const escaped =
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;{{7*7}}${7*7}&lt;%= 7*7 %&gt;';
    const hostilePost = {
      title: hostile,
      content: hostile,
      author: hostile,
      neighborhood: hostile,
      tags: [hostile],
    };
    const html = renderer.render('post', { ...post, ...hostilePost }, 'en');
    expect(html).not.toContain('<script');
    // Five texts, of which the title is shown twice: as heading and as page title.
    expect(html.split(escaped)).toHaveLength(1 + 6);
    const untitled = renderer.render('post', { ...post, title: null, author: hostile }, 'en');
    expect(untitled).not.toContain('<script');
  });
});

describe('Message page', () => {
  it('shows the title as heading, and every paragraph', () => {
    const html = renderer.render(
      'message',
      { ...message, paragraphs: ['One.', 'Two & up.'] },
      'en',
    );
    expect(html).toContain('<h1>Expired</h1>');
    expect(html).toContain('<p>One.</p>');
    expect(html).toContain('<p>Two &amp; up.</p>');
  });

  it('shows the footer, if there is one', () => {
    expect(renderer.render('message', message, 'en')).not.toContain('<footer');
    expect(
      renderer.render('message', { ...message, footer: 'Nothing is shared.' }, 'en'),
    ).toContain('<footer class="foot">\n<p>Nothing is shared.</p>\n</footer>');
  });

  it('shows the link, if there is one', () => {
    expect(renderer.render('message', message, 'en')).not.toContain('<a ');
    const link = { href: '/account/apps', text: 'Connected apps' };
    expect(renderer.render('message', { ...message, link }, 'en')).toMatch(
      /href="\/account\/apps">Connected apps</,
    );
  });
});
