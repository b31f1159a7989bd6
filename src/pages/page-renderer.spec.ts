import { loadConfig } from '../platform/config/load-config.js';
import { LANGUAGES, type Language } from './language.js';
import { PageRenderer } from './page-renderer.js';
import type {
  CodeView,
  ConnectedAppsView,
  ConnectedAppView,
  ConsentView,
  LandingView,
  PhoneView,
  PostView,
} from './views.js';

const renderer = new PageRenderer(loadConfig({}));
const binding = { transaction: 'txn_1', token: 'to"ken' };
const phone: PhoneView = { ...binding, path: '/oauth/authorize', appName: 'Corner Store' };
const accountPhone: PhoneView = { ...binding, path: '/account', next: 'svc_app_1' };
const code: CodeView = {
  ...phone,
  phone: '+14155550101',
  phonePageUrl: '/oauth/authorize/txn_1/phone',
};
const consent: ConsentView = {
  ...binding,
  appName: 'Corner Store',
  redirectHost: 'app.example',
  user: { id: 'usr_1', name: 'Ana Lee', maskedPhone: '+1 ••• ••01' },
  scopes: [
    { name: 'profile.read', checked: true },
    { name: 'posts.write', checked: false },
  ],
  hasEarlierGrant: false,
  lifetimes: { refreshIdle: 2_592_000, grant: 15_552_000 },
  appsUrl: 'https://platform.example/account/apps',
};
const app: ConnectedAppView = {
  clientId: 'svc_app_1',
  name: 'Corner Store',
  scopes: ['profile.read', 'posts.write'],
  grantedAt: new Date('2026-03-01T00:30:00.000Z'),
  lastUsedAt: new Date('2026-11-21T23:59:59.999Z'),
};
const apps: ConnectedAppsView = {
  token: binding.token,
  user: { name: 'Ana Lee', maskedPhone: '+1 ••• ••01' },
  apps: [app, { ...app, clientId: 'svc_app_2', name: 'Garden Share', lastUsedAt: null }],
};
const post: PostView = {
  title: 'Block party',
  content: 'Bring a chair.\r\n\nAnd a friend.',
  author: 'Ana Lee',
  neighborhood: 'Riverside',
  createdAt: new Date('2026-11-21T23:59:59.999Z'),
  tags: ['party', 'Saturday'],
  images: [],
};
const landing: LandingView = {
  docsUrl: '/docs',
  openApiUrl: '/openapi.json',
  guideUrl: '/docs/integrate.md',
  errorsUrl: '/docs/errors',
  demo: { phone: '+14155550101' },
};
const message = { title: 'Expired', paragraphs: ['Start again at the app.'] };

/** Every translated page, in each of its states. */
const renderPages = (language: Language) => ({
  phone: renderer.phone(phone, language),
  'phone with an error': renderer.phone(
    { ...phone, phone: '415', error: 'Add the country code' },
    language,
  ),
  code: renderer.code(code, language),
  'code with an error': renderer.code({ ...code, error: 'Wrong code' }, language),
  'code with a notice': renderer.code({ ...code, notice: 'We sent a new code.' }, language),
  'phone of the account': renderer.phone(accountPhone, language),
  'code of the account': renderer.code(
    { ...code, ...accountPhone, phone: '+14155550101' },
    language,
  ),
  consent: renderer.consent(consent, language),
  'connected apps': renderer.connectedApps(apps, language),
  'connected apps with an error': renderer.connectedApps(
    { ...apps, error: 'Select some' },
    language,
  ),
  'connected apps with a notice': renderer.connectedApps(
    { ...apps, apps: [], notice: 'Removed.' },
    language,
  ),
  'connected app': renderer.connectedApp({ ...apps, app }, language),
  post: renderer.post(post, language),
  'post with required fields only': renderer.post(
    { ...post, ...{ title: null, content: null, neighborhood: null, tags: [] } },
    language,
  ),
  message: renderer.message(message, language),
  'message with an error': renderer.message({ ...message, error: true }, language),
  landing: renderer.landing(landing, language),
});
const pages = renderPages('en');

/** Each form of a page, by its action. */
function formsOf(html: string): Map<string, string> {
  const forms = html.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs);
  return new Map([...forms].map(([form, action = '']) => [action, form]));
}

function tagsOf(html: string, element: string): string[] {
  return html.match(new RegExp(`<${element}\\b[^>]*>`, 'g')) ?? [];
}

function valuesOf(html: string, attribute: string): string[] {
  return [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(
    ([, value]) => value ?? '',
  );
}

const translatedPages = LANGUAGES.flatMap((language) =>
  Object.entries(renderPages(language)).map(([name, html]) => ({ language, name, html })),
);

describe.each(translatedPages)('Page in "$language": $name', ({ language, name, html }) => {
  it('is an HTML document in its language with one heading, one main element and a viewport', () => {
    expect(html).toMatch(new RegExp(`^<!doctype html>\\s*<html lang="${language}">`));
    expect(tagsOf(html, 'h1')).toHaveLength(1);
    expect(tagsOf(html, 'main')).toHaveLength(1);
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  });

  it('loads only files of this server: a stylesheet, an icon and, for consent, a script', () => {
    expect(tagsOf(html, 'link')).toEqual([
      '<link rel="stylesheet" href="/assets/style.css">',
      '<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">',
    ]);
    expect(tagsOf(html, 'script')).toEqual(
      name === 'consent' ? ['<script type="module" src="/assets/consent.js">'] : [],
    );
    expect(html).not.toMatch(/<(style|iframe|img|object|embed)\b|\son\w+=|\sstyle=/);
    for (const address of ['href', 'src', 'action'].flatMap((attribute) =>
      valuesOf(html, attribute),
    )) {
      expect(address).toMatch(/^(\/(?!\/)|#)/);
    }
  });

  it('references only unique, existing elements in labels, descriptions and fragment links', () => {
    const ids = valuesOf(html, 'id');
    expect(new Set(ids).size).toBe(ids.length);
    const references = ['for', 'aria-describedby', 'aria-labelledby'];
    const named = references
      .flatMap((attribute) => valuesOf(html, attribute))
      .flatMap((v) => v.split(' '));
    const linked = valuesOf(html, 'href').filter((href) => href.startsWith('#'));
    for (const id of [...named, ...linked.map((href) => href.slice(1))]) expect(ids).toContain(id);
  });

  it('binds every form to its authorization request, sign-in or session, with values escaped', () => {
    // Without connected apps, the only form of their page is the one that signs the user out.
    const hasSessionForms =
      html.includes('/account/apps/revoke') || /No app has|Ninguna aplicación/.test(html);
    for (const form of formsOf(html).values()) {
      expect(form.includes('name="transaction" value="txn_1"')).toBe(!hasSessionForms);
      expect(form).toContain('<input type="hidden" name="token" value="to&quot;ken">');
    }
  });

  it('renders no undefined or null value', () => {
    expect(html).not.toMatch(/undefined|null|\[object/);
  });
});

describe('Phone page', () => {
  it('has a telephone field with the number that the user typed', () => {
    const form = formsOf(renderer.phone({ ...phone, phone: '"415"' }, 'en')).get(
      '/oauth/authorize/sign-in',
    );
    expect(form).toMatch(/<input id="phone" name="phone" type="tel" autocomplete="tel"/);
    expect(form).toContain('value="&quot;415&quot;"');
  });
});

describe('Phone page of the account', () => {
  it('posts to the account with the client id in `next`, and does not mention an app', () => {
    const form = formsOf(pages['phone of the account']).get('/account/sign-in');
    expect(form).toContain('<input type="hidden" name="next" value="svc_app_1">');
    expect(pages['phone of the account']).not.toContain('continue to');
    expect([...formsOf(pages['code of the account']).keys()]).toEqual([
      '/account/verify',
      '/account/sign-in',
    ]);
  });
});

describe('Code page', () => {
  const forms = formsOf(pages.code);

  it('has one text field that a phone can fill in from the text message', () => {
    const field = tagsOf(pages.code, 'input').filter((tag) => tag.includes('name="code"'));
    expect(field).toHaveLength(1);
    expect(field[0]).toMatch(/type="text" inputmode="numeric" autocomplete="one-time-code"/);
    expect(field[0]).toContain('aria-describedby="code-hint"');
  });

  it('offers to send a new code to the same number and to change the number', () => {
    const hiddenPhone = '<input type="hidden" name="phone" value="+14155550101">';
    expect(forms.get('/oauth/authorize/verify')).toContain(hiddenPhone);
    expect(forms.get('/oauth/authorize/sign-in')).toContain(hiddenPhone);
    expect(pages.code).toMatch(
      /<a [^>]*href="\/oauth\/authorize\/txn_1\/phone">Use another number<\/a>/,
    );
  });

  it('describes the field with its notice', () => {
    expect(pages['code with a notice']).toContain('aria-describedby="code-notice code-hint"');
  });
});

describe('Errors', () => {
  it.each([
    'phone with an error',
    'code with an error',
    'connected apps with an error',
    'message with an error',
  ] as const)('prefix the page title with "Error:": %s', (page) => {
    expect(pages[page]).toMatch(/<title>Error: /);
  });

  it('appear at the field and in a focused summary that links to the field', () => {
    const html = pages['code with an error'];
    expect(html).toMatch(/<div class="summary"[^>]* tabindex="-1" autofocus/);
    expect(html).toContain('<a href="#code">Wrong code</a>');
    expect(html).toContain('aria-describedby="code-error code-hint" aria-invalid="true"');
    expect(html.match(/ autofocus/g)).toHaveLength(1);
  });

  it('do not appear on a page without an error', () => {
    expect(pages.code).not.toMatch(/Error:|aria-invalid|class="summary"/);
  });
});

describe('Consent page', () => {
  const decision = formsOf(pages.consent).get('/oauth/authorize/decision') ?? '';

  it('shows the app, the redirect host and the user', () => {
    for (const text of ['Corner Store', 'app.example', 'Ana Lee', '+1 ••• ••01']) {
      expect(pages.consent).toContain(text);
    }
    expect(formsOf(pages.consent).get('/oauth/authorize/sign-out')).toContain('Switch account');
  });

  it('has a checkbox with a description for each scope, checked if the view says so', () => {
    expect(tagsOf(decision, 'input').filter((tag) => tag.includes('checkbox'))).toEqual([
      '<input type="checkbox" name="scope" value="profile.read" checked>',
      '<input type="checkbox" name="scope" value="posts.write">',
    ]);
    expect(decision).toContain('<span>See your name, photo, karma and neighbourhood</span>');
  });

  it('submits one form with two buttons, Allow first because Enter presses it', () => {
    const [allow, deny] = tagsOf(decision, 'button');
    expect(deny).toContain('type="submit" name="decision" value="deny"');
    expect(allow).toContain('type="submit" name="decision" value="approve"');
  });

  it('renders an app named <script> as text', () => {
    const html = renderer.consent({ ...consent, appName: '<script>alert("1")</script>' }, 'en');
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  });

  it('shows the lifetimes in the largest unit with a value of at least 2', () => {
    expect(pages.consent).toMatch(/180 days.*30 days/);
    const lifetimes = { refreshIdle: 3_600, grant: 86_400 };
    expect(renderer.consent({ ...consent, lifetimes }, 'en')).toMatch(/24 hours .*60 minutes /);
  });

  it('links to the page where the user can remove access', () => {
    expect(pages.consent).toContain(
      '<a href="/account/apps">https://platform.example/account/apps</a>',
    );
  });
});

describe('Connected apps page', () => {
  const form = formsOf(pages['connected apps']).get('/account/apps/revoke') ?? '';

  it('has a cleared checkbox for each app, described by its permissions', () => {
    expect(tagsOf(form, 'input').filter((tag) => tag.includes('checkbox'))).toEqual([
      '<input id="app-0" type="checkbox" name="client_id" value="svc_app_1" aria-describedby="app-0-facts">',
      '<input id="app-1" type="checkbox" name="client_id" value="svc_app_2" aria-describedby="app-1-facts">',
    ]);
    expect(form).toContain('<li>Publish and delete posts and comments in your name</li>');
  });

  it('shows times with their time zone, and for machines', () => {
    expect(form).toContain(
      '<time datetime="2026-03-01T00:30:00.000Z">1 March 2026 at 00:30 UTC</time>',
    );
    expect(form).toContain(
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
    );
    expect(form).toContain('Not used yet');
  });

  it('removes the selected apps on Enter, and all apps by a button in a closed disclosure', () => {
    const buttons = tagsOf(form, 'button');
    expect(buttons).toHaveLength(2);
    expect(buttons[0]).not.toContain('name=');
    const details = /<details\b[^>]*>.*<\/details>/s.exec(form)?.[0] ?? '';
    expect(details).toMatch(/<button[^>]* name="all" value="1">Remove all 2 apps<\/button>/);
    expect(tagsOf(form, 'details')[0]).not.toContain('open');
  });

  it('offers to remove all apps only if there are several', () => {
    expect(renderer.connectedApps({ ...apps, apps: [app] }, 'en')).not.toContain('name="all"');
  });

  it('links an error to the first checkbox, if there is one', () => {
    expect(pages['connected apps with an error']).toContain('<a href="#app-0">Select some</a>');
    const empty = renderer.connectedApps({ ...apps, apps: [], error: 'Select some' }, 'en');
    expect(empty).toContain('<p id="summary-text">Select some</p>');
  });

  it('has one button, without `all`, on the page of a single app', () => {
    const single = formsOf(pages['connected app']).get('/account/apps/revoke') ?? '';
    expect(tagsOf(single, 'button')).toHaveLength(1);
    expect(single).toContain('<input type="hidden" name="client_id" value="svc_app_1">');
    expect(single).not.toContain('name="all"');
  });

  it('shows a message when no app is connected', () => {
    const html = pages['connected apps with a notice'];
    expect(html).toContain('No app has access to your account.');
    expect(html).toMatch(/role="status">Removed\./);
  });
});

describe('Page of a post', () => {
  it('shows the title as heading and page title, and the author, neighborhood and time', () => {
    expect(pages.post).toContain('<h1 dir="auto">Block party</h1>');
    expect(pages.post).toContain('<title>Block party – ');
    for (const text of ['<bdi>Ana Lee</bdi>', '<bdi>Riverside</bdi>', '<bdi>party</bdi>'])
      expect(pages.post).toContain(text);
    expect(pages.post).toContain(
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
    );
  });

  it('preserves the whitespace of the content', () => {
    expect(pages.post).toContain('dir="auto">Bring a chair.\r\n\nAnd a friend.</p>');
  });

  it('has a heading with the author if the post has no title, and omits empty fields', () => {
    const html = pages['post with required fields only'];
    expect(html).toContain('<h1 dir="auto">A post by Ana Lee</h1>');
    expect(html).not.toMatch(/class="post-content"|Tags|Images|>In</);
  });

  it('links to images by host with nofollow, and loads none', () => {
    const images = ['https://images.example/1.jpg?a="1"&b=2', 'http://bücher.example:8080/2.png'];
    const html = renderer.post({ ...post, images }, 'en');
    expect(tagsOf(html, 'a')).toEqual([
      '<a href="https://images.example/1.jpg?a=&quot;1&quot;&amp;b=2" rel="nofollow noopener ugc">',
      '<a href="http://bücher.example:8080/2.png" rel="nofollow noopener ugc">',
    ]);
    expect(html).toContain('>Image 1 on images.example</a>');
    expect(html).toContain('>Image 2 on xn--bcher-kva.example:8080</a>');
    expect(html).not.toContain('<img');
  });

  it('shows the host of an invalid URL unchanged', () => {
    const html = renderer.post({ ...post, images: ['https://xn--a.example/1.png'] }, 'en');
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
    const html = renderer.post({ ...post, ...hostilePost }, 'en');
    expect(html).not.toContain('<script');
    // Five texts, of which the title is shown twice: as heading and as page title.
    expect(html.split(escaped)).toHaveLength(1 + 6);
    const untitled = renderer.post({ ...post, title: null, author: hostile }, 'en');
    expect(untitled).not.toContain('<script');
  });
});

describe('Message page', () => {
  it('shows the title as heading, and every paragraph', () => {
    const html = renderer.message({ ...message, paragraphs: ['One.', 'Two & up.'] }, 'en');
    expect(html).toContain('<h1>Expired</h1>');
    expect(html).toContain('<p>One.</p>');
    expect(html).toContain('<p>Two &amp; up.</p>');
  });

  it('shows the footer, if there is one', () => {
    expect(renderer.message(message, 'en')).not.toContain('<footer');
    expect(renderer.message({ ...message, footer: 'Nothing is shared.' }, 'en')).toContain(
      '<footer class="foot">\n<p>Nothing is shared.</p>\n</footer>',
    );
  });

  it('shows the link, if there is one', () => {
    expect(renderer.message(message, 'en')).not.toContain('<a ');
    const link = { href: '/account/apps', text: 'Connected apps' };
    expect(renderer.message({ ...message, link }, 'en')).toMatch(
      /href="\/account\/apps">Connected apps</,
    );
  });
});
