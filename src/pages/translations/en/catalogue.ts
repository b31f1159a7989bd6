import type { Scope } from '../../../platform/access/scopes.js';
import { formatDuration } from '../../formats.js';
import { isolated, type Markup, markup } from '../markup.js';
import { errors } from './errors.js';
import { LOCALE } from './locale.js';

/** The landing page, for developers. */
export const landing = {
  title: 'For developers',
  heading: 'Build apps for your neighbourhood',
  lead: 'An OAuth 2.0 server and a JSON API. With the consent of a user, your app can read their profile, publish and list their posts, reply to comments, and see how many likes and comments each post has.',
  documentation: 'Read the documentation',
  guide: 'Developer guide',
  errorCodes: 'Error codes',
  openApi: 'OpenAPI document',
  forMembers: 'Are you a member?',
  account: 'See the apps that have access to your account',
  how: 'How it works',
  steps: {
    register: {
      title: 'Register your app',
      text: markup`The operator registers the name, redirect URIs and scopes of your app, and gives you a <code>client_id</code>. Apps that run on a server also get a <code>client_secret</code>.`,
    },
    request: {
      title: 'Request access',
      text: markup`Redirect the browser to <code>/oauth/authorize</code> with your scopes, a random <code>state</code> and a PKCE challenge (<code>S256</code>).`,
    },
    decide: {
      title: 'The user decides',
      text: 'They sign in with a one-time code sent to their phone, review the requested scopes, and allow all, some or none of them.',
    },
    exchange: {
      title: 'Exchange the authorization code',
      text: markup`Verify the <code>state</code>, then send the authorization code and the PKCE verifier to <code>/oauth/token</code>. The <code>scope</code> of the response lists what the user granted.`,
    },
    call: { title: 'Call the API', text: 'Send the access token in a header of each request.' },
  },
  demoOn: 'The demo is on',
  demoOnText:
    'This server has a demo app and a demo user, so you can try the whole flow now. Do not enter real personal data.',
  demoHow: (phone: string, code: string) =>
    markup`To try it, open the documentation, click &ldquo;Authorize&rdquo; and sign in with <span class="phone">${phone}</span> and the code <strong>${code}</strong>.`,
  demoOff: 'The demo is off',
  demoOffText:
    'This server has no demo app and no demo user. Ask the operator to register your app.',
  footer: 'The operator of this server registers apps.',
};

const scopes: Readonly<Record<Scope, string>> = {
  'profile.read': 'See your name, photo, karma and neighbourhood',
  'posts.read': 'Read your own posts and the comments on them',
  'posts.write': 'Publish and delete posts and comments in your name',
  'analytics.read': 'See how many likes and comments your posts have',
};

const attemptsLeft = (count: number): string => `Attempts left: ${count}.`;

/** English. Its type is the type of every catalogue. A text that contains values is a function of them. */
export const en = {
  locale: LOCALE,
  direction: 'ltr' as 'ltr' | 'rtl',
  scopes,
  layout: {
    network: 'Neighbourhood network',
    error: 'Error:',
    privacy: 'Privacy',
    terms: 'Terms',
    support: 'Help',
  },
  app: {
    publisher: (publisher: string) => markup`by <bdi>${publisher}</bdi>`,
    verified: (network: string) => `Verified by ${network}`,
    notVerified: 'Not verified',
    test: 'Test app',
    verifiedMeaning: (network: string) => `${network} has checked who offers this app.`,
    notVerifiedMeaning: (network: string) => `${network} has not checked who offers this app.`,
    links: (app: string) => markup`More about <bdi>${app}</bdi>`,
    homepage: 'Website',
    privacy: 'Privacy policy',
    terms: 'Terms of use',
  },
  signIn: {
    toApp: (app: string) => markup`to continue to <strong><bdi>${app}</bdi></strong>`,
    toAccount: 'to manage your connected apps',
    footer: 'Check the address of this page before you enter a code. We ask for codes only here.',
  },
  phone: {
    title: 'Sign in',
    label: 'Your phone number',
    country: 'Country',
    noCountry: 'Select a country',
    send: 'Send me a code',
    byMessage: 'We send you a one-time code by text message.',
    fixedCode:
      'This is a test app. Sign in with a test account, which has a fixed code. We send no message.',
    testApp: 'You cannot use your own account with a test app. Sign in with a test account.',
    testAccount:
      'This is a test account, which works only with test apps. Sign in with your own account.',
    hiddenFromApp: (app: string) =>
      markup`<bdi>${app}</bdi> never sees your number. It gets no access until you allow it.`,
    invalid:
      'Check the number and its country, or enter the number with its country code, like +1 415 555 0100.',
    check:
      'We do not know numbers like this one. Check its country and each digit. If it is correct, send it again.',
    cookieLost:
      'Enter your number again. If this page keeps coming back, your browser does not keep the cookies of this site. Allow them, or use another browser.',
    unsupportedCountry: 'We cannot send codes to phone numbers in this country.',
    paused: 'We are not sending codes at the moment. Please try again later.',
  },
  code: {
    title: 'Enter your code',
    closedTitle: 'Request a new code',
    closed:
      'There is no valid code. A code works once, for a few minutes, and only in the browser that requested it.',
    sent: (phone: string, digits: number) =>
      markup`If there is an account for <strong class="phone">${phone}</strong>, we sent a ${String(digits)}-digit code to this number.`,
    fixed: (phone: string) =>
      markup`Enter the fixed code of the test account <strong class="phone">${phone}</strong>.`,
    label: '6-digit code',
    longLabel: '8-digit code',
    hint: 'It works once. Never share it with anyone.',
    submit: 'Continue',
    notReceived: "Didn't get a code?",
    notReceivedHelp:
      'It can take a minute. Check that the number is correct and belongs to an account.',
    newCodeFor: (phone: string) => markup`Send a code to <span class="phone">${phone}</span>`,
    sendNew: 'Request new code',
    otherNumber: 'Use another number',
    sentAgain: 'You requested a new code. Only the newest code works.',
    invalid: (digits: number) => `Enter the ${digits} digits of the code.`,
    wrong: (left: number) => `That code is wrong. Check the newest message. ${attemptsLeft(left)}`,
    attemptsLeft,
    lastWrong: 'That code is wrong, and it was the last attempt. Request a new one.',
    expired: 'This code has expired. Request a new one.',
    wait: (seconds: number) =>
      markup`You can request a new code in <span data-seconds="${String(seconds)}">${formatDuration(seconds, LOCALE)}</span>.`,
    waitTooLong: (seconds: number) =>
      `You can request a new code in ${formatDuration(seconds, LOCALE)}. This page expires before then. Go back to where you came from and start again later.`,
    tooEarly: 'It is too early for a new code.',
    lastCodeWorks: 'The last code we sent still works.',
  },
  sms: {
    /** Without the name of the app, which the sign-in is for, if it is unknown or would cost another text message. */
    oneTimePassword: (password: string, network: string, seconds: number, app?: string) =>
      `${password} is your ${network} code${app === undefined ? '' : ` for ${app}`}. It expires in ${formatDuration(seconds, LOCALE)}. Never share it with anyone.`,
  },
  currentUser: {
    signedInAs: 'Signed in as',
    switchAccount: 'Switch account',
    signOut: 'Sign out',
  },
  consent: {
    title: 'Allow access?',
    heading: (app: string) => markup`<bdi>${app}</bdi> wants to access your account`,
    returnTo: (host: string) =>
      markup`You'll return to <strong class="host"><bdi>${host}</bdi></strong>.`,
    permissions: (app: string) => markup`<bdi>${app}</bdi> will be able to:`,
    permissionsHint: "Clear anything you don't want to share.",
    earlierGrantHint:
      'If you choose Allow, the app loses what you clear. If you choose Cancel or clear everything, nothing changes.',
    details: 'What it cannot do, and how long access lasts',
    names: 'Full names',
    app: 'App',
    publisher: 'Publisher',
    host: 'You return to',
    neverTitle: 'It will never be able to:',
    never: {
      phone: 'See your phone number',
      messages: 'Read your messages',
      profile: 'Change your profile',
      others: 'Act on behalf of anyone else',
    },
    durationTitle: 'How long access lasts',
    duration: (unused: number, atMost: number) =>
      `Access lasts up to ${formatDuration(atMost, LOCALE)} and ends after ${formatDuration(unused, LOCALE)} without use.`,
    removeTitle: 'Changed your mind?',
    removeHint: (url: string) =>
      markup`You can remove access at any time at <a href="/account/apps">${url}</a>.`,
    deny: 'Cancel',
    refuse: 'Refuse',
    allow: 'Allow',
    footer:
      'Allow access only if you know and trust this app. If you did not open this page from an app, choose Cancel.',
  },
  repeatedConsent: {
    title: 'Continue?',
    heading: (app: string) => markup`Continue to <bdi>${app}</bdi>`,
    permissions: 'You already allowed this app to:',
    continue: 'Continue',
    change: 'Change what it can do',
  },
  apps: {
    title: 'Connected apps',
    none: 'No app has access to your account.',
    some: 'You allowed these apps to access your account.',
    granted: 'Granted',
    lastGranted: 'Last granted',
    connections: 'Connections',
    isNew: 'Granted in the last 7 days',
    notVerifiedHint: (network: string) =>
      `“Not verified” means that ${network} has not checked who offers the app.`,
    newHint:
      'Apps marked “Granted in the last 7 days” got access recently. If you did not allow one of them, use “Sign out everywhere and disconnect all apps” below.',
    lastUsed: 'Last used',
    notUsedYet: 'Not used yet',
    disconnect: 'Disconnect',
    disconnectHint: 'Disconnect this app? It loses access immediately.',
    keep: 'Keep it connected',
    disconnectAll: 'Disconnect all apps',
    disconnectAllHint:
      'All apps lose access immediately, including any that you allowed after you opened this page.',
    confirmDisconnectAll: (count: number) => `Disconnect all ${count.toLocaleString(LOCALE)} apps`,
    footer:
      'Apps lose access immediately, but keep the data they have already copied. To have it deleted, contact the developer of the app. If you signed in to an app or site with this account, you stay signed in there: sign out there, too.',
    single: 'Connected app',
    singleTitle: (app: string) => `Connected app: ${isolated(app)}`,
    permissions: 'This app can:',
    signOutEverywhere: 'Sign out everywhere',
    signOutEverywhereHint:
      'This signs you out in all browsers, including this one. Apps keep their access unless you disconnect them, too.',
    signOutAndDisconnect: 'Sign out everywhere and disconnect all apps',
    sessions: 'Where you are signed in',
    thisBrowser: 'This browser',
    signedIn: 'Signed in',
    signOutBrowser: 'Sign out this session',
    browserSignedOut: 'That browser is signed out. Apps keep their access.',
    browserAlreadySignedOut: 'That browser was already signed out.',
    alreadyDisconnected: 'Already disconnected.',
    disconnected: (app: string) => `${isolated(app)} no longer has access.`,
    disconnectedSeveral: (count: number) =>
      `${count.toLocaleString(LOCALE)} apps no longer have access.`,
  },
  recovery: {
    backToApp: 'Go back to the app and start again.',
    appFooter: 'Nothing is shared with an app until you allow it.',
    backToAccount: 'Open your connected apps and start again.',
    accountFooter: 'Apps can access your account only while you allow it.',
    returnTo: (app: string) => `Return to ${isolated(app)}`,
  },
  post: {
    titleOf: (author: string) => `A post by ${author}`,
    test: 'Test post',
    by: 'By',
    in: 'In',
    on: 'On',
    images: 'Images',
    imageOn: (number: number, host: string) => `Image ${number.toLocaleString(LOCALE)} on ${host}`,
    tags: 'Tags',
    footer: 'This post is public. Anyone with the link can read it.',
    notFound: {
      title: 'Post not found',
      paragraphs: ['It was deleted, it is not public, or the link is wrong.'] satisfies [string],
    },
    openAgain: 'Open the link again.',
  },
  notFound: {
    title: 'Page not found',
    paragraphs: [
      'There is no page at this address. Check the link, or start from the home page.',
    ] satisfies [string],
    home: 'Home page',
    account: 'Your connected apps',
  },
  invalidAuthorizationRequest: (app: string) => ({
    title: 'This link does not work',
    paragraphs: [
      markup`<bdi>${app}</bdi> sent an invalid request. Nothing was shared with it.`,
      'You can close this page, or return to the app and try again.',
    ] satisfies [Markup, string],
  }),
  errorDetails: (code: string, requestId: string) =>
    markup`For developers: <code>${code}</code>, request <code>${requestId}</code>.`,
  errors,
  landing,
};

export type Catalogue = typeof en;
