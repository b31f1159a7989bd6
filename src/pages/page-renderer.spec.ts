import { loadConfig } from '../platform/config/load-config.js';
import { LANGUAGES, type Language } from './language.js';
import { PageRenderer } from './page-renderer.js';
import type {
  AppView,
  CodeView,
  ConnectedAppsView,
  ConnectedAppView,
  ConsentView,
  LandingView,
  PhoneView,
  PostView,
  RepeatedConsentView,
  Views,
} from './views.js';

const renderer = new PageRenderer(loadConfig({}));
const binding = { transaction: 'txn_1', token: 'to"ken' };
const cornerStore: AppView = {
  clientId: 'svc_app_1',
  name: 'Corner Store',
  publisher: 'Corner Ltd',
  isVerified: true,
  logoHash: '0a1b',
};
const countries = [
  { code: 'ES', callingCode: '34', name: 'Spain' },
  { code: 'US', callingCode: '1', name: 'United States' },
];
const phone: PhoneView = { ...binding, path: '/oauth/authorize', app: cornerStore, countries };
const accountPhone: PhoneView = { ...binding, path: '/account', next: 'svc_app_1', countries };
const code: CodeView = {
  ...binding,
  path: '/oauth/authorize',
  app: cornerStore,
  phone: '+14155550101',
  formattedPhone: '+1 415 555 0101',
  phonePageUrl: '/oauth/authorize/txn_1/phone',
  isOpen: true,
  resendAfterSeconds: 42,
};
const accountCode: CodeView = {
  ...code,
  path: '/account',
  app: undefined,
  next: 'svc_app_1',
  phonePageUrl: '/account/sign-in/txn_1/phone',
};
const ana = { name: 'Ana Lee', maskedPhone: '+1 ••• ••01', photoUrl: null };
const consentForm = {
  ...binding,
  app: { ...cornerStore, homepageUrl: null, privacyUrl: null, termsUrl: null },
  redirectHost: 'app.example',
  user: { id: 'usr_1', ...ana },
};
const consent: ConsentView = {
  ...consentForm,
  scopes: [
    { name: 'profile.read', checked: true },
    { name: 'posts.write', checked: false },
  ],
  hasEarlierGrant: false,
  lifetimes: { refreshIdle: 2_592_000, grant: 15_552_000 },
  appsUrl: 'https://platform.example/account/apps',
};
const repeatedConsent: RepeatedConsentView = {
  ...consentForm,
  scopes: ['profile.read', 'posts.write'],
  consentPageUrl: '/oauth/authorize/txn_1/consent?change=1',
};
const app: ConnectedAppView = {
  ...cornerStore,
  scopes: ['profile.read', 'posts.write'],
  grantedAt: new Date('2026-03-01T00:30:00.000Z'),
  lastUsedAt: new Date('2026-11-21T23:59:59.999Z'),
};
const apps: ConnectedAppsView = {
  token: binding.token,
  user: ana,
  apps: [
    app,
    {
      ...app,
      clientId: 'svc_app_2',
      name: 'garden Share',
      publisher: null,
      isVerified: false,
      logoHash: null,
      lastUsedAt: null,
    },
  ],
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
  guideUrl: '/docs/guide',
  errorsUrl: '/docs/errors',
  demo: { phone: '+14155550101' },
};
const message = { title: 'Expired', paragraphs: ['Start again at the app.'] };

const failed = {
  appName: 'Corner Store',
  details: { code: 'expired', requestId: 'req_1', documentationUrl: '/docs/errors#page-expired' },
};

/** The scripts of the templates that have one. */
const SCRIPTS: Readonly<Record<string, string>> = {
  consent: 'consent.js',
  'repeated-consent': 'consent.js',
  code: 'code.js',
  'connected-apps': 'submit-once.js',
  'connected-app': 'submit-once.js',
};

const requiredFieldsOnly = { ...post, title: null, content: null, neighborhood: null, tags: [] };
const stateOf = <Page extends keyof Views>(template: Page, view: Views[Page]) => ({
  template,
  render: (language: Language) => renderer.render(template, view, language),
});

/** Every translated page, in each of its states. */
const STATES = {
  phone: stateOf('phone', phone),
  'phone with an error': stateOf('phone', { ...phone, phone: '415', error: 'Add the country' }),
  code: stateOf('code', code),
  'code with three attempts left': stateOf('code', { ...code, attemptsLeft: 3 }),
  'code with an error': stateOf('code', { ...code, error: 'Wrong code' }),
  'code with a notice': stateOf('code', { ...code, notice: 'We sent a new code.' }),
  'closed code': stateOf('code', { ...code, isOpen: false, resendAfterSeconds: 0 }),
  'closed code with an error': stateOf('code', { ...code, isOpen: false, error: 'The last one.' }),
  'phone of the account': stateOf('phone', accountPhone),
  'code of the account': stateOf('code', accountCode),
  consent: stateOf('consent', consent),
  'repeated consent': stateOf('repeated-consent', repeatedConsent),
  'connected apps': stateOf('connected-apps', apps),
  'connected apps with a notice': stateOf('connected-apps', { ...apps, apps: [], notice: 'Done.' }),
  'connected app': stateOf('connected-app', { ...apps, app }),
  post: stateOf('post', post),
  'post with required fields only': stateOf('post', requiredFieldsOnly),
  message: stateOf('message', message),
  'message with an error': stateOf('message', { ...message, error: true, ...failed }),
  landing: stateOf('landing', landing),
};

function pageOf(name: keyof typeof STATES, language: Language = 'en'): string {
  return STATES[name].render(language);
}

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
  Object.entries(STATES).map(([name, { template, render }]) => ({
    language,
    name,
    template,
    html: render(language),
  })),
);

describe.each(translatedPages)(
  'Page in "$language": $name',
  ({ language, name, template, html }) => {
    it('is an HTML document in its language with one heading, one main element and a viewport', () => {
      expect(html).toMatch(new RegExp(`^<!doctype html>\\s*<html lang="${language}">`));
      expect(tagsOf(html, 'h1')).toHaveLength(1);
      expect(tagsOf(html, 'main')).toHaveLength(1);
      expect(html).toContain(
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
      );
    });

    it('loads only files of this server: a stylesheet, an icon, logos and at most one script', () => {
      expect(tagsOf(html, 'link')).toEqual([
        '<link rel="stylesheet" href="/assets/style.css">',
        '<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">',
      ]);
      const script = SCRIPTS[template];
      expect(tagsOf(html, 'script')).toEqual(
        script === undefined ? [] : [`<script type="module" src="/assets/${script}">`],
      );
      expect(html).not.toMatch(/<(style|iframe|object|embed)\b|\son\w+=|\sstyle=/);
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
      for (const id of [...named, ...linked.map((href) => href.slice(1))])
        expect(ids).toContain(id);
    });

    it('binds every form to its authorization request, sign-in or session, with values escaped', () => {
      const hasSessionForms = name.startsWith('connected app');
      for (const form of formsOf(html).values()) {
        expect(form.includes('name="transaction" value="txn_1"')).toBe(!hasSessionForms);
        expect(form).toContain('<input type="hidden" name="token" value="to&quot;ken">');
      }
    });

    it('renders no undefined or null value', () => {
      expect(html).not.toMatch(/undefined|null|\[object/);
    });
  },
);

describe('Phone page', () => {
  it('has a telephone field with the number that the user typed', () => {
    const form = formsOf(renderer.render('phone', { ...phone, phone: '"415"' }, 'en')).get(
      '/oauth/authorize/sign-in',
    );
    expect(form).toMatch(/<input id="phone" name="phone" type="tel" autocomplete="tel"/);
    expect(form).toContain('value="&quot;415&quot;"');
  });

  it('lists the countries, with the given one selected', () => {
    const html = renderer.render('phone', { ...phone, country: 'US' }, 'en');
    expect(html.match(/<option.*<\/option>/g)).toEqual([
      '<option value="">Select a country</option>',
      '<option value="ES">Spain (+34)</option>',
      '<option value="US" selected>United States (+1)</option>',
    ]);
    expect(pageOf('phone')).not.toContain(' selected');
  });

  it('shows who the app is: its logo, publisher and verification', () => {
    expect(pageOf('phone')).toContain(
      '<img class="logo" src="/assets/app-logos/svc_app_1/0a1b" alt="" width="56" height="56">',
    );
    expect(pageOf('phone')).toContain('by <bdi>Corner Ltd</bdi>');
    expect(pageOf('phone')).toContain('Verified by Neighbourhood network');
  });
});

describe('Phone page of the account', () => {
  it('posts to the account with the client id in `next`, and does not mention an app', () => {
    const form = formsOf(pageOf('phone of the account')).get('/account/sign-in');
    expect(form).toContain('<input type="hidden" name="next" value="svc_app_1">');
    expect(pageOf('phone of the account')).not.toContain('continue to');
    expect([...formsOf(pageOf('code of the account')).keys()]).toEqual([
      '/account/verify',
      '/account/sign-in',
    ]);
  });
});

describe('Code page', () => {
  it.each([
    ['en', 'Attempts left: 3.'],
    ['es', 'Intentos restantes: 3.'],
  ] as const)('says in "%s" how many attempts are left', (language, text) => {
    const name = 'code with three attempts left';
    expect(pageOf(name, language)).toContain(text);
  });

  const forms = formsOf(pageOf('code'));

  it('has one text field that a phone can fill in from the text message', () => {
    const field = tagsOf(pageOf('code'), 'input').filter((tag) => tag.includes('name="code"'));
    expect(field).toHaveLength(1);
    expect(field[0]).toMatch(/type="text" inputmode="numeric" autocomplete="one-time-code"/);
    expect(field[0]).toContain('aria-describedby="code-hint"');
  });

  it('offers to send a new code to the same number and to change the number', () => {
    const hiddenPhone = '<input type="hidden" name="phone" value="+14155550101">';
    expect(forms.get('/oauth/authorize/verify')).toContain(hiddenPhone);
    expect(forms.get('/oauth/authorize/sign-in')).toContain(hiddenPhone);
    expect(pageOf('code')).toMatch(
      /<a [^>]*href="\/oauth\/authorize\/txn_1\/phone">Use another number<\/a>/,
    );
  });

  it('shows the number in groups, and how long to wait for a new code', () => {
    expect(pageOf('code')).toContain('<strong class="phone">+1 415 555 0101</strong>');
    expect(pageOf('code')).toContain(
      'You can request a new code in <span data-seconds="42">42 seconds</span>.',
    );
    expect(renderer.render('code', { ...code, resendAfterSeconds: 0 }, 'en')).not.toContain(
      'data-seconds',
    );
  });

  it('has one filled button: to request a new code if none can be entered, else to continue', () => {
    const filled = (html: string): string[] =>
      (html.match(/<button class="button(?: full)?"[^>]*>[^<]*/g) ?? []).map((button) =>
        button.replace(/.*>/, ''),
      );
    expect(filled(pageOf('code'))).toEqual(['Continue']);
    expect(filled(pageOf('closed code'))).toEqual(['Request new code']);
    expect(pageOf('closed code')).not.toContain('name="code"');
  });

  it('describes the field with its notice', () => {
    expect(pageOf('code with a notice')).toContain('aria-describedby="code-notice code-hint"');
  });
});

describe('Errors', () => {
  it.each([
    'phone with an error',
    'code with an error',
    'closed code with an error',
    'message with an error',
  ] as const)('prefix the page title with "Error:": %s', (page) => {
    expect(pageOf(page)).toMatch(/<title>Error: /);
  });

  it.each([
    ['code with an error', 'Wrong code', 'code-error code-hint'],
    ['phone with an error', 'Add the country', 'phone-error'],
  ] as const)('appear once, at the focused field: %s', (page, error, description) => {
    const html = pageOf(page);
    expect(html.split(error)).toHaveLength(2);
    expect(html).toMatch(new RegExp(`<input [^>]*autofocus[^>]*aria-describedby="${description}"`));
    expect(html.match(/ autofocus/g)).toHaveLength(1);
  });

  it('name the app and, for its developers, the code and the request', () => {
    const html = pageOf('message with an error');
    expect(html).toContain('<p class="kicker"><bdi>Corner Store</bdi></p>');
    expect(html).toContain(
      'For developers: <code>expired</code>, request <code>req_1</code>. <a href="/docs/errors#page-expired"',
    );
  });

  it('do not appear on a page without an error', () => {
    expect(pageOf('code')).not.toMatch(/Error:|aria-invalid/);
  });
});

describe('Consent page', () => {
  const decision = formsOf(pageOf('consent')).get('/oauth/authorize/decision') ?? '';

  it('shows the app, the redirect host and the user', () => {
    for (const text of ['Corner Store', 'app.example', 'Ana Lee', '+1 ••• ••01']) {
      expect(pageOf('consent')).toContain(text);
    }
    expect(formsOf(pageOf('consent')).get('/oauth/authorize/sign-out')).toContain('Switch account');
  });

  it('has a checkbox with a description for each scope, checked if the view says so', () => {
    expect(tagsOf(decision, 'input').filter((tag) => tag.includes('checkbox'))).toEqual([
      '<input type="checkbox" name="scope" value="profile.read" checked>',
      '<input type="checkbox" name="scope" value="posts.write">',
    ]);
    expect(decision).toContain('<span>See your name, photo, karma and neighbourhood</span>');
  });

  it('submits one form with two buttons, after one for the Enter key that does nothing', () => {
    const [nothing, allow, deny] = tagsOf(decision, 'button');
    expect(nothing).toBe('<button type="submit" formmethod="dialog" hidden>');
    expect(deny).toContain('type="submit" name="decision" value="deny"');
    expect(allow).toContain('type="submit" name="decision" value="approve"');
  });

  it('renders an app named <script> as text', () => {
    const name = '<script>alert("1")</script>';
    const html = renderer.render('consent', { ...consent, app: { ...consent.app, name } }, 'en');
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  });

  it('shows the lifetimes in the largest unit with a value of at least 2', () => {
    expect(pageOf('consent')).toMatch(/180 days.*30 days/);
    const lifetimes = { refreshIdle: 3_600, grant: 86_400 };
    expect(renderer.render('consent', { ...consent, lifetimes }, 'en')).toMatch(
      /24 hours .*60 minutes /,
    );
  });

  it('links to the pages of the app, if it has any', () => {
    expect(pageOf('consent')).not.toContain('Privacy policy');
    const privacyUrl = 'https://corner.example/privacy';
    const html = renderer.render(
      'consent',
      { ...consent, app: { ...consent.app, privacyUrl } },
      'en',
    );
    expect(html).toContain(`<a href="${privacyUrl}" rel="noreferrer">Privacy policy</a>`);
    expect(html).not.toContain('Website');
  });

  it('shows the photo of the user over the initial', () => {
    const photoUrl = 'https://photos.example/ana.jpg';
    const html = renderer.render(
      'consent',
      { ...consent, user: { ...consent.user, photoUrl } },
      'en',
    );
    expect(html).toMatch(
      /<span>A<\/span>\s*<img src="https:\/\/photos.example\/ana.jpg" alt="" width="40" height="40" referrerpolicy="no-referrer">/,
    );
  });

  it('links to the page where the user can remove access', () => {
    expect(pageOf('consent')).toContain(
      '<a href="/account/apps">https://platform.example/account/apps</a>',
    );
  });
});

describe('Repeated consent page', () => {
  const decision = formsOf(pageOf('repeated consent')).get('/oauth/authorize/decision') ?? '';

  it('lists the scopes, and allows them with one button', () => {
    expect(pageOf('repeated consent')).toContain(
      '<li>Publish and delete posts and comments in your name</li>',
    );
    expect(decision).toContain('<input type="hidden" name="scope" value="profile.read">');
    expect(decision).toContain('<input type="hidden" name="scope" value="posts.write">');
    const [allow, deny] = tagsOf(decision, 'button');
    expect(allow).toContain('name="decision" value="approve"');
    expect(deny).toContain('name="decision" value="deny"');
    expect(decision).toContain('Continue as <bdi>Ana Lee</bdi>');
  });

  it('links to the consent page', () => {
    expect(pageOf('repeated consent')).toContain(
      '<a href="/oauth/authorize/txn_1/consent?change=1">Change what it can do</a>',
    );
  });
});

describe('Connected apps page', () => {
  const html = pageOf('connected apps');

  it('has a row for each app with its identity, its permissions and a link to disconnect it', () => {
    const [first = '', second = ''] =
      /<ul class="rows">(.*?)<\/ul>\s*<form/s
        .exec(html)?.[1]
        ?.split('<div class="app small">')
        .slice(1) ?? [];
    expect(first).toContain('Verified by Neighbourhood network');
    expect(first).toContain('<li>Publish and delete posts and comments in your name</li>');
    expect(first).toContain('<a class="button quiet" href="/account/apps/svc_app_1">Disconnect');
    expect(second).toContain('<span class="logo monogram" aria-hidden="true">G</span>');
    expect(second).toContain('Not verified');
    expect(second).toContain('<a class="button quiet" href="/account/apps/svc_app_2">Disconnect');
  });

  it('shows times with their time zone, and for machines', () => {
    expect(html).toContain(
      '<time datetime="2026-03-01T00:30:00.000Z">1 March 2026 at 00:30 UTC</time>',
    );
    expect(html).toContain(
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
    );
    expect(html).toContain('Not used yet');
  });

  it('disconnects all apps by a button in a closed disclosure', () => {
    const form = formsOf(html).get('/account/apps/revoke') ?? '';
    expect(tagsOf(form, 'button')).toHaveLength(1);
    const details = /<details\b[^>]*>.*<\/details>/s.exec(form)?.[0] ?? '';
    expect(details).toMatch(/<button[^>]* name="all" value="1">Disconnect all 2 apps<\/button>/);
    expect(tagsOf(form, 'details')[0]).not.toContain('open');
  });

  it('offers to disconnect all apps only if there are several', () => {
    expect(renderer.render('connected-apps', { ...apps, apps: [app] }, 'en')).not.toContain(
      'name="all"',
    );
  });

  it('asks for confirmation on the page of a single app, with one button without `all`', () => {
    const single = formsOf(pageOf('connected app')).get('/account/apps/revoke') ?? '';
    expect(tagsOf(single, 'button')).toHaveLength(1);
    expect(single).toContain('<input type="hidden" name="client_id" value="svc_app_1">');
    expect(single).not.toContain('name="all"');
    expect(single).toContain('<a class="button quiet" href="/account/apps">Keep it connected</a>');
  });

  it('shows a message when no app is connected', () => {
    const empty = pageOf('connected apps with a notice');
    expect(empty).toContain('No app has access to your account.');
    expect(empty).toMatch(/role="status">Done\./);
  });
});

describe('Page of a post', () => {
  it('shows the title as heading and page title, and the author, neighborhood and time', () => {
    expect(pageOf('post')).toContain('<h1 dir="auto">Block party</h1>');
    expect(pageOf('post')).toContain('<title>Block party – ');
    for (const text of ['<bdi>Ana Lee</bdi>', '<bdi>Riverside</bdi>', '<bdi>party</bdi>'])
      expect(pageOf('post')).toContain(text);
    expect(pageOf('post')).toContain(
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
    );
  });

  it('preserves the whitespace of the content', () => {
    expect(pageOf('post')).toContain('dir="auto">Bring a chair.\r\n\nAnd a friend.</p>');
  });

  it('has a heading with the author if the post has no title, and omits empty fields', () => {
    const html = pageOf('post with required fields only');
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
    expect(pageOf('message')).not.toContain('<footer');
    expect(
      renderer.render('message', { ...message, footer: 'Nothing is shared.' }, 'en'),
    ).toContain('<footer class="foot">\n<p>Nothing is shared.</p>\n</footer>');
  });

  it('shows the link, if there is one', () => {
    expect(pageOf('message')).not.toContain('<a ');
    const link = { href: '/account/apps', text: 'Connected apps' };
    expect(renderer.render('message', { ...message, link }, 'en')).toMatch(
      /href="\/account\/apps">Connected apps</,
    );
  });
});
