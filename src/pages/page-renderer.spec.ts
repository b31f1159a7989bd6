import {
  renderer,
  phone,
  code,
  consent,
  app,
  apps,
  post,
  message,
  hostile,
  escaped,
  STATES,
  pageOf,
  formsOf,
  tagsOf,
} from '../../test/support/page-states.js';
import type { PhoneView, ConsentView, PostView, Views } from './views.js';

/** What pages show, one of them, and the parts of its HTML. */
type Row = [
  what: string,
  page: keyof typeof STATES | (() => string),
  ...parts: (string | RegExp)[],
];

function htmlOf(page: Row[1]): string {
  return typeof page === 'string' ? pageOf(page) : page();
}

function has(html: string, part: string | RegExp): boolean {
  return typeof part === 'string' ? html.includes(part) : part.test(html);
}

const withPhone = (changes: Partial<PhoneView>) => () =>
  renderer.render('phone', { ...phone, ...changes }, 'en');
const withConsent = (changes: Partial<ConsentView>) => () =>
  renderer.render('consent', { ...consent, ...changes }, 'en');
const withPost = (changes: Partial<PostView>) => () =>
  renderer.render('post', { ...post, ...changes }, 'en');
const withMessage = (changes: Partial<Views['message']>) => () =>
  renderer.render('message', { ...message, ...changes }, 'en');

describe('Pages', () => {
  it.each<Row>([
    [
      'who the app is: its logo, publisher and verification',
      'phone',
      '<img class="logo" src="/assets/app-logos/svc_app_1/0a1b" alt="" width="56" height="56">',
      'by <bdi>Corner Ltd</bdi>',
      'Verified by Neighbourhood network',
    ],
    [
      'a telephone field with the number that the user typed',
      withPhone({ phone: '"415"' }),
      /<input id="phone" name="phone" type="tel" autocomplete="tel"[^>]*value="&quot;415&quot;"/,
    ],
    [
      'the countries, with the given one selected',
      withPhone({ country: 'US' }),
      '<option value="">Select a country</option>',
      '<option value="ES">Spain (+34)</option>',
      '<option value="US" selected>United States (+1)</option>',
    ],
    [
      'the client id in `next`',
      'phone of the account',
      /action="\/account\/sign-in">.*<input type="hidden" name="next" value="svc_app_1">/s,
    ],
    ['how many attempts are left', 'code with three attempts left', 'Attempts left: 3.'],
    [
      'that in Spanish',
      () => pageOf('code with three attempts left', 'es'),
      'Intentos restantes: 3.',
    ],
    [
      'a field that a phone can fill in from the text message, and how to get a new code',
      'code',
      /type="text" inputmode="numeric" autocomplete="one-time-code"/,
      'aria-describedby="code-hint"',
      /<a [^>]*href="\/oauth\/authorize\/txn_1\/phone">Use another number<\/a>/,
      '<strong class="phone">+1 415 555 0101</strong>',
      'You can request a new code in <span data-seconds="42">42 seconds</span>.',
    ],
    ['its notice at the field', 'code with a notice', 'aria-describedby="code-notice code-hint"'],
    ['the error of the phone in the title', 'phone with an error', '<title>Error: '],
    ['the error of the code in the title', 'code with an error', '<title>Error: '],
    ['the last error of the code in the title', 'closed code with an error', '<title>Error: '],
    [
      'the app and, for its developers, the code and the request',
      'message with an error',
      '<title>Error: ',
      '<p class="kicker"><bdi>Corner Store</bdi></p>',
      'For developers: <code>expired</code>, request <code>req_1</code>. <a href="/docs/errors#page-expired"',
    ],
    [
      'the app, the redirect host, the user, the lifetimes and where to remove access',
      'consent',
      'Corner Store',
      'app.example',
      'Ana Lee',
      '+1 ••• ••01',
      /action="\/oauth\/authorize\/sign-out">.*Switch account/s,
      '<input type="checkbox" name="scope" value="profile.read" checked>',
      '<input type="checkbox" name="scope" value="posts.write">',
      '<span>See your name, photo, karma and neighbourhood</span>',
      /180 days.*30 days/,
      '<a href="/account/apps">https://platform.example/account/apps</a>',
    ],
    [
      'lifetimes in the largest unit with a value of at least 2',
      withConsent({ lifetimes: { refreshIdle: 3_600, grant: 86_400 } }),
      /24 hours .*60 minutes /,
    ],
    [
      'the pages of the app',
      withConsent({ app: { ...consent.app, privacyUrl: 'https://corner.example/privacy' } }),
      '<a href="https://corner.example/privacy" rel="noreferrer">Privacy policy</a>',
    ],
    [
      'the photo of the user over the initial',
      withConsent({ user: { ...consent.user, photoUrl: 'https://photos.example/ana.jpg' } }),
      /<span>A<\/span>\s*<img src="https:\/\/photos.example\/ana.jpg" alt="" width="40" height="40" referrerpolicy="no-referrer">/,
    ],
    [
      'an app with a hostile name as text',
      withConsent({ app: { ...consent.app, name: hostile } }),
      escaped,
    ],
    [
      'the scopes, one button and a link to the consent page',
      'repeated consent',
      '<li>Publish and delete posts and comments in your name</li>',
      '<input type="hidden" name="scope" value="profile.read">',
      '<input type="hidden" name="scope" value="posts.write">',
      />Continue<\/button>/,
      '<a href="/oauth/authorize/txn_1/consent?change=1">Change what it can do</a>',
    ],
    [
      'times with their time zone, and for machines',
      'connected apps',
      '<time datetime="2026-03-01T00:30:00.000Z">1 March 2026 at 00:30 UTC</time>',
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
      'Not used yet',
    ],
    [
      'that no app is connected',
      'connected apps with a notice',
      'No app has access to your account.',
      /role="status">Done\./,
    ],
    [
      'the title, the author, the neighborhood, the time and the content with its whitespace',
      'post',
      '<h1 dir="auto">Block party</h1>',
      '<title>Block party – ',
      '<bdi>Ana Lee</bdi>',
      '<bdi>Riverside</bdi>',
      '<bdi>party</bdi>',
      '<time datetime="2026-11-21T23:59:59.999Z">21 November 2026 at 23:59 UTC</time>',
      'dir="auto">Bring a chair.\r\n\nAnd a friend.</p>',
    ],
    [
      'a heading with the author',
      'post with required fields only',
      '<h1 dir="auto">A post by Ana Lee</h1>',
    ],
    [
      'images as links by host, with nofollow',
      withPost({ images: ['https://i.example/1?a="1"&b=2', 'http://bücher.example:8080/2.png'] }),
      '<a href="https://i.example/1?a=&quot;1&quot;&amp;b=2" rel="nofollow noopener ugc">Image 1 on i.example</a>',
      '<a href="http://bücher.example:8080/2.png" rel="nofollow noopener ugc">Image 2 on xn--bcher-kva.example:8080</a>',
    ],
    [
      'the host of an invalid URL unchanged',
      withPost({ images: ['https://xn--a.example/1.png'] }),
      '>Image 1 on xn--a.example</a>',
    ],
    [
      'the title as heading, every paragraph and the footer',
      withMessage({ paragraphs: ['One.', 'Two & up.'], footer: 'Nothing is shared.' }),
      '<h1>Expired</h1>',
      '<p>One.</p>',
      '<p>Two &amp; up.</p>',
      '<footer class="foot">\n<p>Nothing is shared.</p>\n</footer>',
    ],
    [
      'what "Not verified" means, in the details of the consent page',
      withConsent({ app: { ...consent.app, isVerified: false } }),
      '<span class="badge">Not verified</span>',
      '<p>Neighbourhood network has not checked who offers this app.',
    ],
    ['what "Verified" means', 'consent', '<p>Neighbourhood network has checked who offers'],
    [
      'what "Not verified" means, above the connected apps',
      'connected apps',
      '<p class="hint">“Not verified” means that Neighbourhood network has not checked who offers the app.</p>',
    ],
    [
      'what "Not verified" means, beside a single app',
      () => renderer.render('connected-app', { ...apps, app: { ...app, isVerified: false } }, 'en'),
      '<p class="hint">Neighbourhood network has not checked who offers this app.',
    ],
    [
      'the link',
      withMessage({ link: { href: '/account/apps', text: 'Connected apps' } }),
      'href="/account/apps">Connected apps<',
    ],
  ])('show %s', (_, page, ...parts) => {
    for (const part of parts) expect(has(htmlOf(page), part), `${part}`).toBe(true);
  });

  it.each<Row>([
    ['a selected country', 'phone', ' selected'],
    ['an app', 'phone of the account', 'continue to'],
    ['an error', 'code', /Error:|aria-invalid/],
    ['a field', 'closed code', 'name="code"'],
    [
      'a time to wait for a new code',
      () => renderer.render('code', { ...code, resendAfterSeconds: 0 }, 'en'),
      'data-seconds',
    ],
    ['links to pages that the app does not have', 'consent', 'Privacy policy', 'Website'],
    ['a script of the app', withConsent({ app: { ...consent.app, name: hostile } }), '<script>'],
    [
      'a button for all apps, if there is one app',
      () => renderer.render('connected-apps', { ...apps, apps: [app] }, 'en'),
      'name="all"',
    ],
    [
      'what "Not verified" means, if every app is verified',
      () => renderer.render('connected-apps', { ...apps, apps: [app] }, 'en'),
      'Not verified',
    ],
    ['empty fields', 'post with required fields only', /class="post-content"|Tags|Images|>In</],
    ['pictures of others', withPost({ images: ['https://images.example/1.jpg'] }), '<img'],
    ['a footer or a link without one', 'message', '<footer', '<a '],
  ])('do not show %s', (_, page, ...parts) => {
    for (const part of parts) expect(has(htmlOf(page), part), `${part}`).toBe(false);
  });

  it.each([
    ['code with an error', 'Wrong code', 'code-error code-hint'],
    ['phone with an error', 'Add the country', 'phone-error'],
  ] as const)('show an error once, at the focused field: %s', (page, error, description) => {
    const html = pageOf(page);
    expect(html.split(error)).toHaveLength(2);
    expect(html).toMatch(new RegExp(`<input [^>]*autofocus[^>]*aria-describedby="${description}"`));
    expect(html.match(/ autofocus/g)).toHaveLength(1);
  });

  it('C69 escapes every text that the author wrote', () => {
    const texts = { title: hostile, content: hostile, author: hostile, neighborhood: hostile };
    const html = withPost({ ...texts, tags: [hostile] })();
    expect(html).not.toContain('<script');
    // Five texts. The title is also that of the page and of Open Graph, and the content is two descriptions.
    expect(html.split(escaped)).toHaveLength(1 + 9);
    expect(withPost({ title: null, author: hostile })()).not.toContain('<script');
  });
});

describe('Forms of a page', () => {
  it('send a code to the account, and a new one', () => {
    expect([...formsOf(pageOf('code of the account')).keys()]).toEqual([
      '/account/verify',
      '/account/sign-in',
    ]);
  });

  it.each(['/oauth/authorize/verify', '/oauth/authorize/sign-in'])(
    'send the phone of a code to %s',
    (action) => {
      const hiddenPhone = '<input type="hidden" name="phone" value="+14155550101">';
      expect(formsOf(pageOf('code')).get(action)).toContain(hiddenPhone);
    },
  );

  it.each([
    ['code', 'Continue'],
    ['closed code', 'Request new code'],
  ] as const)('have one filled button: %s: %s', (page, text) => {
    const filled = pageOf(page).match(/<button class="button(?: full)?"[^>]*>[^<]*/g) ?? [];
    expect(filled.map((button) => button.replace(/.*>/, ''))).toEqual([text]);
  });

  it('O26 have two buttons for consent, after one for the Enter key that does nothing', () => {
    const decision = formsOf(pageOf('consent')).get('/oauth/authorize/decision') ?? '';
    const [nothing, allow, deny] = tagsOf(decision, 'button');
    expect(nothing).toBe(
      '<button type="submit" formmethod="dialog" name="decision" value="refuse" hidden>',
    );
    expect(decision).toContain(' hidden>Refuse</button>');
    expect(deny).toContain('type="submit" name="decision" value="deny"');
    expect(allow).toContain('type="submit" name="decision" value="approve"');
  });

  it('have two buttons for repeated consent', () => {
    const decision = formsOf(pageOf('repeated consent')).get('/oauth/authorize/decision') ?? '';
    const [allow, deny] = tagsOf(decision, 'button');
    expect(allow).toContain('name="decision" value="approve"');
    expect(deny).toContain('name="decision" value="deny"');
  });

  it('disconnect each app after a confirmation, and all apps by a button in a closed disclosure', () => {
    const html = pageOf('connected apps');
    const rows = /<ul class="rows">(.*?)<\/ul>\s*<form/s.exec(html)?.[1] ?? '';
    const [first = '', second = ''] = rows.split('<div class="app small">').slice(1);
    expect(first).toContain('Verified by Neighbourhood network');
    expect(first).toContain('<li>Publish and delete posts and comments in your name</li>');
    expect(first).toContain('<a class="button quiet" href="/account/apps/svc_app_1">Disconnect');
    expect(second).toContain('<span class="logo monogram" aria-hidden="true">G</span>');
    expect(second).toContain('Not verified');
    expect(second).toContain('<a class="button quiet" href="/account/apps/svc_app_2">Disconnect');
    const form = formsOf(html).get('/account/apps/revoke') ?? '';
    expect(tagsOf(form, 'button')).toHaveLength(1);
    const details = /<details\b[^>]*>.*<\/details>/s.exec(form)?.[0] ?? '';
    expect(details).toMatch(/<button[^>]* name="all" value="1">Disconnect all 2 apps<\/button>/);
    expect(tagsOf(form, 'details')[0]).not.toContain('open');
    const single = formsOf(pageOf('connected app')).get('/account/apps/revoke') ?? '';
    expect(tagsOf(single, 'button')).toHaveLength(1);
    expect(single).toContain('<input type="hidden" name="client_id" value="svc_app_1">');
    expect(single).not.toContain('name="all"');
    expect(single).toContain('<a class="button quiet" href="/account/apps">Keep it connected</a>');
  });
});
