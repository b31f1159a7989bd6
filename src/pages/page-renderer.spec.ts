import { PageRenderer } from './page-renderer.js';
import type { CodeView, ConsentView, LandingView, PhoneView } from './views.js';

const renderer = new PageRenderer();
const binding = { transaction: 'txn_1', token: 'to"ken' };
const phone: PhoneView = { ...binding, appName: 'Corner Store' };
const code: CodeView = { ...phone, phone: '+14155550101' };
const consent: ConsentView = {
  ...phone,
  redirectHost: 'app.example',
  user: { id: 'usr_1', name: 'Ana Lee', maskedPhone: '+1 ••• ••01' },
  scopes: [
    { name: 'profile.read', sentence: 'See your name', checked: true },
    { name: 'posts.write', sentence: 'Publish posts', checked: false },
  ],
  lifetimes: { refreshIdle: 2_592_000, grant: 15_552_000 },
};
const landing: LandingView = { docsUrl: '/docs', openApiUrl: '/openapi.json', demo: true };
const message = { title: 'Expired', paragraphs: ['Start again at the app.'] };

const everyPage = {
  phone: renderer.phone(phone),
  'phone with an error': renderer.phone({ ...phone, phone: '415', error: 'Add the country code' }),
  code: renderer.code(code),
  'code with an error': renderer.code({ ...code, error: 'Wrong code' }),
  'code with a notice': renderer.code({ ...code, notice: 'We sent a new code.' }),
  consent: renderer.consent(consent),
  message: renderer.message(message),
  'message with an error': renderer.message({ ...message, error: true }),
  landing: renderer.landing(landing),
};

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

describe.each(Object.entries(everyPage))('Page: %s', (_, html) => {
  it('is one English HTML document with one heading, one main part and a viewport', () => {
    expect(html).toMatch(/^<!doctype html>\s*<html lang="en">/);
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

  it('binds every form to its transaction, with values escaped', () => {
    for (const form of formsOf(html).values()) {
      expect(form).toContain('<input type="hidden" name="transaction" value="txn_1">');
      expect(form).toContain('<input type="hidden" name="token" value="to&quot;ken">');
    }
  });

  it('fills every place of the template', () => {
    expect(html).not.toMatch(/undefined|null|\[object/);
  });
});

describe('Phone page', () => {
  it('asks for the number in a telephone field that keeps what was typed', () => {
    const form = formsOf(renderer.phone({ ...phone, phone: '"415"' })).get(
      '/oauth/authorize/sign-in',
    );
    expect(form).toMatch(/<input id="phone" name="phone" type="tel" autocomplete="tel"/);
    expect(form).toContain('value="&quot;415&quot;"');
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
  it.each(['phone with an error', 'code with an error', 'message with an error'] as const)(
    'begin the title of the page: %s',
    (page) => {
      expect(everyPage[page]).toMatch(/<title>Error: /);
    },
  );

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
    expect(decision).toContain('<span>See your name</span>');
  });

  it('answers by two submit buttons of one form, deny first as the one that Enter presses', () => {
    const buttons = tagsOf(decision, 'button');
    expect(buttons).toHaveLength(2);
    expect(buttons[0]).toContain('type="submit" name="decision" value="deny"');
    expect(buttons[1]).toContain('type="submit" name="decision" value="approve"');
  });

  it('renders an app named <script> as text', () => {
    const html = renderer.consent({ ...consent, appName: '<script>alert("1")</script>' });
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  });

  it('says for how long, in the largest unit that fits', () => {
    expect(everyPage.consent).toMatch(/30 days.*180 days/);
    const lifetimes = { refreshIdle: 3_600, grant: 86_400 };
    expect(renderer.consent({ ...consent, lifetimes })).toMatch(/1 hour.*1 day /);
  });

  it('says where to take access back', () => {
    expect(everyPage.consent).toContain("the network's support");
  });
});

describe('Message page', () => {
  it('shows its title as the heading, and every paragraph', () => {
    const html = renderer.message({ ...message, paragraphs: ['One.', 'Two & up.'] });
    expect(html).toContain('<h1>Expired</h1>');
    expect(html).toContain('<p>Two &amp; up.</p>');
  });
});

describe('Landing page', () => {
  it('links to the documentation and the OpenAPI document, and tells whether the demo is on', () => {
    expect(valuesOf(everyPage.landing, 'href')).toEqual(
      expect.arrayContaining(['/docs', '/openapi.json']),
    );
    expect(everyPage.landing).toContain('The demo is on');
    expect(renderer.landing({ ...landing, demo: false })).toContain('The demo is off');
  });
});
