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

const renderer = new PageRenderer();
const binding = { transaction: 'txn_1', token: 'to"ken' };
const phone: PhoneView = { ...binding, path: '/oauth/authorize', appName: 'Corner Store' };
const ownPhone: PhoneView = { ...binding, path: '/account', next: 'svc_app_1' };
const code: CodeView = { ...phone, phone: '+14155550101' };
const consent: ConsentView = {
  ...binding,
  appName: 'Corner Store',
  redirectHost: 'app.example',
  user: { id: 'usr_1', name: 'Ana Lee', maskedPhone: '+1 ••• ••01' },
  scopes: [
    { name: 'profile.read', checked: true },
    { name: 'posts.write', checked: false },
  ],
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

/** Every page of the service that speaks the visitor's language, in each of its states. */
const everyPageIn = (language: Language) => ({
  phone: renderer.phone(phone, language),
  'phone with an error': renderer.phone(
    { ...phone, phone: '415', error: 'Add the country code' },
    language,
  ),
  code: renderer.code(code, language),
  'code with an error': renderer.code({ ...code, error: 'Wrong code' }, language),
  'code with a notice': renderer.code({ ...code, notice: 'We sent a new code.' }, language),
  'phone of the account': renderer.phone(ownPhone, language),
  'code of the account': renderer.code({ ...ownPhone, phone: '+14155550101' }, language),
  consent: renderer.consent(consent, language),
  'connected apps': renderer.connectedApps(apps, language),
  'connected apps with an error': renderer.connectedApps({ ...apps, error: 'Tick some' }, language),
  'connected apps with a notice': renderer.connectedApps(
    { ...apps, apps: [], notice: 'Gone.' },
    language,
  ),
  'connected app': renderer.connectedApp({ ...apps, app }, language),
  post: renderer.post(post, language),
  'post with nothing but images': renderer.post(
    { ...post, ...{ title: null, content: null, neighborhood: null, tags: [] } },
    language,
  ),
  message: renderer.message(message, language),
  'message with an error': renderer.message({ ...message, error: true }, language),
  landing: renderer.landing(landing, language),
});
const everyPage = everyPageIn('en');

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

const pagesOfAllLanguages = LANGUAGES.flatMap((language) =>
  Object.entries(everyPageIn(language)).map(([name, html]) => ({ language, name, html })),
);

describe.each(pagesOfAllLanguages)('Page in "$language": $name', ({ language, html }) => {
  it('is one HTML document of its language with one heading, one main part and a viewport', () => {
    expect(html).toMatch(new RegExp(`^<!doctype html>\\s*<html lang="${language}">`));
    expect(tagsOf(html, 'h1')).toHaveLength(1);
    expect(tagsOf(html, 'main')).toHaveLength(1);
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  });

  it('loads one stylesheet and one icon of this server, runs no script and links to nobody else', () => {
    expect(tagsOf(html, 'link')).toEqual([
      '<link rel="stylesheet" href="/assets/style.css">',
      '<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">',
    ]);
    expect(html).not.toMatch(/<(script|style|iframe|img|object|embed)\b|\son\w+=|\sstyle=/);
    for (const address of ['href', 'src', 'action'].flatMap((name) => valuesOf(html, name))) {
      expect(address).toMatch(/^(\/(?!\/)|#)/);
    }
  });

  it('points every label, description and skip link at an element that exists once', () => {
    const ids = valuesOf(html, 'id');
    expect(new Set(ids).size).toBe(ids.length);
    const references = ['for', 'aria-describedby', 'aria-labelledby'];
    const named = references.flatMap((name) => valuesOf(html, name)).flatMap((v) => v.split(' '));
    const linked = valuesOf(html, 'href').filter((href) => href.startsWith('#'));
    for (const id of [...named, ...linked.map((href) => href.slice(1))]) expect(ids).toContain(id);
  });

  it('binds every form to its transaction or session, with values escaped', () => {
    const isOfSession =
      html.includes('/account/apps/revoke') || /No app has|Ninguna aplicación/.test(html);
    for (const form of formsOf(html).values()) {
      expect(form.includes('name="transaction" value="txn_1"')).toBe(!isOfSession);
      expect(form).toContain('<input type="hidden" name="token" value="to&quot;ken">');
    }
  });

  it('fills every place of the template', () => {
    expect(html).not.toMatch(/undefined|null|\[object/);
  });
});

describe('Phone page', () => {
  it('asks for the number in a telephone field that keeps what was typed', () => {
    const form = formsOf(renderer.phone({ ...phone, phone: '"415"' }, 'en')).get(
      '/oauth/authorize/sign-in',
    );
    expect(form).toMatch(/<input id="phone" name="phone" type="tel" autocomplete="tel"/);
    expect(form).toContain('value="&quot;415&quot;"');
  });
});

describe('Phone page of the account', () => {
  it('posts to the account, remembers where to go next, and promises nothing of an app', () => {
    const form = formsOf(everyPage['phone of the account']).get('/account/sign-in');
    expect(form).toContain('<input type="hidden" name="next" value="svc_app_1">');
    expect(everyPage['phone of the account']).not.toContain('continue to');
    expect([...formsOf(everyPage['code of the account']).keys()]).toEqual([
      '/account/verify',
      '/account/sign-in',
      '/account/change-number',
    ]);
  });
});

describe('Code page', () => {
  const forms = formsOf(everyPage.code);

  it('asks for the code in one text field that phones can fill', () => {
    const field = tagsOf(everyPage.code, 'input').filter((tag) => tag.includes('name="code"'));
    expect(field).toHaveLength(1);
    expect(field[0]).toMatch(/type="text" inputmode="numeric" autocomplete="one-time-code"/);
    expect(field[0]).toContain('aria-describedby="code-hint"');
  });

  it('offers a new code to the same number, and another number', () => {
    const hiddenPhone = '<input type="hidden" name="phone" value="+14155550101">';
    expect(forms.get('/oauth/authorize/verify')).toContain(hiddenPhone);
    expect(forms.get('/oauth/authorize/sign-in')).toContain(hiddenPhone);
    expect(forms.get('/oauth/authorize/change-number')).not.toContain('name="phone"');
  });

  it('describes the field by its notice', () => {
    expect(everyPage['code with a notice']).toContain('aria-describedby="code-notice code-hint"');
  });
});

describe('Errors', () => {
  it.each([
    'phone with an error',
    'code with an error',
    'connected apps with an error',
    'message with an error',
  ] as const)('begin the title of the page: %s', (page) => {
    expect(everyPage[page]).toMatch(/<title>Error: /);
  });

  it('appear beside the field and in a summary that takes focus and links to the field', () => {
    const html = everyPage['code with an error'];
    expect(html).toMatch(/<div class="summary"[^>]* tabindex="-1" autofocus/);
    expect(html).toContain('<a href="#code">Wrong code</a>');
    expect(html).toContain('aria-describedby="code-error code-hint" aria-invalid="true"');
    expect(html.match(/ autofocus/g)).toHaveLength(1);
  });

  it('are absent from a page without one', () => {
    expect(everyPage.code).not.toMatch(/Error:|aria-invalid|class="summary"/);
  });
});

describe('Consent page', () => {
  const decision = formsOf(everyPage.consent).get('/oauth/authorize/decision') ?? '';

  it('shows who asks, where the answer goes, and as whom', () => {
    for (const text of ['Corner Store', 'app.example', 'Ana Lee', '+1 ••• ••01']) {
      expect(everyPage.consent).toContain(text);
    }
    expect(formsOf(everyPage.consent).get('/oauth/authorize/sign-out')).toContain('Not you?');
  });

  it('gives each scope a box with its sentence, ticked as told', () => {
    expect(tagsOf(decision, 'input').filter((tag) => tag.includes('checkbox'))).toEqual([
      '<input id="scope-0" type="checkbox" name="scope" value="profile.read" checked>',
      '<input id="scope-1" type="checkbox" name="scope" value="posts.write">',
    ]);
    expect(decision).toContain('<span>See your name, photo, karma and neighbourhood</span>');
  });

  it('answers by two submit buttons of one form, deny first as the one that Enter presses', () => {
    const buttons = tagsOf(decision, 'button');
    expect(buttons).toHaveLength(2);
    expect(buttons[0]).toContain('type="submit" name="decision" value="deny"');
    expect(buttons[1]).toContain('type="submit" name="decision" value="approve"');
  });

  it('renders an app named <script> as text', () => {
    const html = renderer.consent({ ...consent, appName: '<script>alert("1")</script>' }, 'en');
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  });

  it('says for how long, in the largest unit that fits', () => {
    expect(everyPage.consent).toMatch(/30 days.*180 days/);
    const lifetimes = { refreshIdle: 3_600, grant: 86_400 };
    expect(renderer.consent({ ...consent, lifetimes }, 'en')).toMatch(/60 minutes.*24 hours /);
  });

  it('says where to take access back', () => {
    expect(everyPage.consent).toContain(
      '<a href="/account/apps">https://platform.example/account/apps</a>',
    );
  });
});

describe('Connected apps page', () => {
  const form = formsOf(everyPage['connected apps']).get('/account/apps/revoke') ?? '';

  it('gives each app a box that nobody has ticked, described by what the app may do', () => {
    expect(tagsOf(form, 'input').filter((tag) => tag.includes('checkbox'))).toEqual([
      '<input id="app-0" type="checkbox" name="client_id" value="svc_app_1" aria-describedby="app-0-facts">',
      '<input id="app-1" type="checkbox" name="client_id" value="svc_app_2" aria-describedby="app-1-facts">',
    ]);
    expect(form).toContain('<li>Publish and delete posts and comments in your name</li>');
  });

  it('tells days in UTC, for people and for programs', () => {
    expect(form).toContain('<time datetime="2026-03-01">1 March 2026</time>');
    expect(form).toContain('<time datetime="2026-11-21">21 November 2026</time>');
    expect(form).toContain('not yet');
  });

  it('removes what is ticked when Enter is pressed, and all by a button that has to be opened first', () => {
    const buttons = tagsOf(form, 'button');
    expect(buttons).toHaveLength(2);
    expect(buttons[0]).not.toContain('name=');
    const details = /<details\b[^>]*>.*<\/details>/s.exec(form)?.[0] ?? '';
    expect(details).toMatch(/<button[^>]* name="all" value="1">Remove all 2 apps<\/button>/);
    expect(tagsOf(form, 'details')[0]).not.toContain('open');
  });

  it('offers to remove all only where there are several', () => {
    expect(renderer.connectedApps({ ...apps, apps: [app] }, 'en')).not.toContain('name="all"');
  });

  it('links an error to the first box, and to nothing when there is none', () => {
    expect(everyPage['connected apps with an error']).toContain('<a href="#app-0">Tick some</a>');
    const empty = renderer.connectedApps({ ...apps, apps: [], error: 'Tick some' }, 'en');
    expect(empty).toContain('<p id="summary-text">Tick some</p>');
  });

  it('has one button, without all, for a single app', () => {
    const single = formsOf(everyPage['connected app']).get('/account/apps/revoke') ?? '';
    expect(tagsOf(single, 'button')).toHaveLength(1);
    expect(single).toContain('<input type="hidden" name="client_id" value="svc_app_1">');
    expect(single).not.toContain('name="all"');
  });

  it('says so when no app is connected', () => {
    const html = everyPage['connected apps with a notice'];
    expect(html).toContain('No app has access to your account.');
    expect(html).toMatch(/role="status">Gone\./);
  });
});

describe('Page of a post', () => {
  it('shows its title as the heading and in the title of the page, with author, place and day in UTC', () => {
    expect(everyPage.post).toContain('<h1 dir="auto">Block party</h1>');
    expect(everyPage.post).toContain('<title>Block party – ');
    for (const text of ['<bdi>Ana Lee</bdi>', '<bdi>Riverside</bdi>', '<bdi>party</bdi>'])
      expect(everyPage.post).toContain(text);
    expect(everyPage.post).toContain('<time datetime="2026-11-21">21 November 2026</time>');
  });

  it('keeps the text as it was written', () => {
    expect(everyPage.post).toContain('dir="auto">Bring a chair.\r\n\nAnd a friend.</p>');
  });

  it('is named after its author without a title, and leaves out what the post has not', () => {
    const html = everyPage['post with nothing but images'];
    expect(html).toContain('<h1 dir="auto">A post by Ana Lee</h1>');
    expect(html).not.toMatch(/class="said"|Tags|Images|>In</);
  });

  it('links to its images, by their hosts, without recommending them or loading any', () => {
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

  it('names a host as it was written when no browser would take it', () => {
    const html = renderer.post({ ...post, images: ['https://xn--a.example/1.png'] }, 'en');
    expect(html).toContain('>Image 1 on xn--a.example</a>');
  });

  it('C69 renders whatever its author wrote as text', () => {
    const evil = '<script>alert("1")</script>{{7*7}}${7*7}<%= 7*7 %>';
    const escaped =
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;{{7*7}}${7*7}&lt;%= 7*7 %&gt;';
    const everywhere = {
      title: evil,
      content: evil,
      author: evil,
      neighborhood: evil,
      tags: [evil],
    };
    const html = renderer.post({ ...post, ...everywhere }, 'en');
    expect(html).not.toContain('<script');
    expect(html.split(escaped)).toHaveLength(1 + 6);
    const untitled = renderer.post({ ...post, title: null, author: evil }, 'en');
    expect(untitled).not.toContain('<script');
  });
});

describe('Message page', () => {
  it('shows its title as the heading, and every paragraph', () => {
    const html = renderer.message({ ...message, paragraphs: ['One.', 'Two & up.'] }, 'en');
    expect(html).toContain('<h1>Expired</h1>');
    expect(html).toContain('<p>Two &amp; up.</p>');
  });

  it('has a footer where one is given', () => {
    expect(renderer.message(message, 'en')).not.toContain('<footer');
    expect(renderer.message({ ...message, footer: 'Nothing is shared.' }, 'en')).toContain(
      '<footer class="foot"><p>Nothing is shared.</p></footer>',
    );
  });

  it('links to where to go on', () => {
    const link = { href: '/account/apps', text: 'Connected apps' };
    expect(renderer.message({ ...message, link }, 'en')).toMatch(
      /href="\/account\/apps">Connected apps</,
    );
  });
});
