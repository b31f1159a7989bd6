import { loadConfig } from '../../src/platform/config/load-config.js';
import type { Language } from '../../src/pages/language.js';
import { PageRenderer } from '../../src/pages/page-renderer.js';
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
} from '../../src/pages/views.js';

export const renderer = new PageRenderer(loadConfig({}));
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
export const phone: PhoneView = {
  ...binding,
  path: '/oauth/authorize',
  app: cornerStore,
  countries,
  isPaused: false,
};
const accountPhone: PhoneView = {
  ...binding,
  path: '/account',
  next: 'svc_app_1',
  countries,
  isPaused: false,
};
export const code: CodeView = {
  ...binding,
  path: '/oauth/authorize',
  app: cornerStore,
  phone: '+14155550101',
  formattedPhone: '+1 415 555 0101',
  phonePageUrl: '/oauth/authorize/txn_1/phone',
  digits: 6,
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
  shownHash: '0'.repeat(64),
  user: { id: 'usr_1', ...ana },
};
export const consent: ConsentView = {
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
export const app: ConnectedAppView = {
  ...cornerStore,
  scopes: ['profile.read', 'posts.write'],
  connections: 2,
  grantedAt: new Date('2026-03-01T00:30:00.000Z'),
  lastGrantedAt: new Date('2026-11-20T12:00:00.000Z'),
  isNew: true,
  lastUsedAt: new Date('2026-11-21T23:59:59.999Z'),
};
export const apps: ConnectedAppsView = {
  token: binding.token,
  user: ana,
  sessions: [true, false].map((isThisBrowser) => ({
    handle: isThisBrowser ? '0123456789ab' : 'ba9876543210',
    isThisBrowser,
    signedInAt: new Date('2026-11-21T20:00:00.000Z'),
    lastUsedAt: new Date('2026-11-21T22:00:00.000Z'),
  })),
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
export const post: PostView = {
  title: 'Block party',
  content: 'Bring a chair.\r\n\nAnd a friend.',
  author: 'Ana Lee',
  neighborhood: 'Riverside',
  createdAt: new Date('2026-11-21T23:59:59.999Z'),
  tags: ['party', 'Saturday'],
  images: [],
  permalink: 'https://dev.oak-street.example/post/post_01kahq5f3veqdr8bn3tdmx3q0a',
  test: false,
};
const landing: LandingView = {
  docsUrl: '/docs',
  openApiUrl: '/openapi.json',
  guideUrl: '/docs/guide',
  errorsUrl: '/docs/errors',
  accountUrl: '/account/apps',
  demo: { phone: '+14155550101', code: '424242', hasDocsApp: true },
};
export const message = { title: 'Expired', paragraphs: ['Start again at the app.'] };

const failed = {
  appName: 'Corner Store',
  details: { code: 'expired', requestId: 'req_1', documentationUrl: '/docs/errors#page-expired' },
};

export const hostile = '<script>alert("1")</script>{{7*7}}${7*7}<%= 7*7 %>';
export const escaped =
  '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;{{7*7}}${7*7}&lt;%= 7*7 %&gt;';
const requiredFieldsOnly = { ...post, title: null, content: null, neighborhood: null, tags: [] };
const stateOf = <Page extends keyof Views>(template: Page, view: Views[Page]) => ({
  template,
  view,
  render: (language: Language) => renderer.render(template, view, language),
});

/** Every translated page, in each of its states. */
export const STATES = {
  phone: stateOf('phone', phone),
  'phone with an error': stateOf('phone', { ...phone, phone: '415', error: 'Add the country' }),
  'phone to check': stateOf('phone', { ...phone, checked: '+16215550101', error: 'Check it' }),
  'phone of a test app': stateOf('phone', {
    ...phone,
    app: { ...cornerStore, test: true },
    notice: 'Use a test account.',
  }),
  'phone while messages are paused': stateOf('phone', { ...phone, isPaused: true }),
  code: stateOf('code', code),
  'code of a test app': stateOf('code', { ...code, app: { ...cornerStore, test: true } }),
  'code with three attempts left': stateOf('code', { ...code, attemptsLeft: 3 }),
  'code with an error': stateOf('code', { ...code, error: 'Wrong code' }),
  'code with a notice': stateOf('code', { ...code, notice: 'We sent a new code.' }),
  'code of eight digits': stateOf('code', { ...code, digits: 8 }),
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

export function pageOf(name: keyof typeof STATES, language: Language = 'en'): string {
  return STATES[name].render(language);
}

/** Each form of a page, by its action. */
export function formsOf(html: string): Map<string, string> {
  const forms = html.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs);
  return new Map([...forms].map(([form, action = '']) => [action, form]));
}

export function tagsOf(html: string, element: string): string[] {
  return html.match(new RegExp(`<${element}\\b[^>]*>`, 'g')) ?? [];
}

export function valuesOf(html: string, attribute: string): string[] {
  return [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(
    ([, value]) => value ?? '',
  );
}
