import type { Scope } from '../../platform/access/scopes.js';
import { inWords, LOCALES } from '../language.js';
import { errors } from './en-errors.js';
import { landing } from './en-landing.js';
import { markup } from './markup.js';

const LOCALE = LOCALES.en;

const scopes: Readonly<Record<Scope, string>> = {
  'profile.read': 'See your name, photo, karma and neighbourhood',
  'posts.read': 'Read your own posts and the comments on them',
  'posts.write': 'Publish and delete posts and comments in your name',
  'analytics.read': 'See how many likes and comments your posts have',
};

/** English, and the shape of every other catalogue. Sections are pages; functions take what a sentence is about. */
export const en = {
  scopes,
  layout: {
    network: 'Neighbourhood network',
    error: 'Error:',
    problem: 'There is a problem',
  },
  signIn: {
    toApp: (app: string) => markup`to continue to <strong><bdi>${app}</bdi></strong>`,
    toAccount: 'to see which apps have access to your account',
    footer: 'Check the address of this page before you type a code: we ask for it only here.',
  },
  phone: {
    title: 'Sign in',
    label: 'Your phone number',
    hint: 'The one of your account, with the country code, like +1\u00a0415\u00a0555\u00a00100.',
    send: 'Send me a code',
    byMessage: 'We send a one-time code by text message.',
    appSeesNothing: (app: string) =>
      markup`<bdi>${app}</bdi> does not get to see your number, and gets no access before you have agreed on the next pages.`,
    notAPhone: 'Enter your phone number with its country code, such as +1 415 555 0100.',
    notOurCountry: 'We cannot send messages to numbers of this country.',
  },
  code: {
    title: 'Enter your code',
    sent: (phone: string) =>
      markup`If there is an account for <strong class="phone">${phone}</strong>, we have sent a 6-digit code to it.`,
    label: '6-digit code',
    hint: 'It works once. Do not give it to anyone, whoever asks.',
    submit: 'Continue',
    notReceived: 'Not received a message?',
    patience: 'It can take a minute. Check that the number is right and belongs to an account.',
    sendNew: 'Send a new code',
    otherNumber: 'Use another number',
    sentAgain:
      'If there is an account for this number, a new code is on its way. Only the newest one works.',
    notACode: 'Enter the 6 digits of the code.',
    wrong: 'That is not the code we sent. Look at the newest message and try again.',
    closed: 'This code does not work any more. Send a new one.',
    wait: (seconds: number) =>
      `Too many messages were asked for. Try again in ${inWords(seconds, LOCALE)}.`,
    expiredByThen:
      'This page will have expired by then: go back to where you came from and start again.',
    lastWorks: 'The last code we sent still works.',
  },
  message: {
    password: (password: string, seconds: number) =>
      `${password} is your code to sign in. It works for ${inWords(seconds, LOCALE)}. Never tell it to anyone.`,
  },
  who: {
    signedInAs: 'You are signed in as',
    notYou: 'Not you?',
  },
  consent: {
    title: 'Allow access?',
    asks: (app: string) => markup`<bdi>${app}</bdi> asks for access to your account`,
    recipient: (host: string) =>
      markup`Your answer is sent to <strong class="host">${host}</strong>. Allow it only if you know this app and trust it.`,
    may: 'What may it do?',
    untick: 'Untick what you do not want. With nothing ticked, it gets no access.',
    mayNot: 'What it cannot do',
    never: [
      'See your phone number',
      'Read your messages',
      'Change your profile',
      'Act as anyone but you',
    ],
    howLong: 'For how long',
    until: (unused: number, atMost: number) =>
      `Until you take it back. Access that is not used ends after ${inWords(unused, LOCALE)}, and all of it ends after ${inWords(atMost, LOCALE)} at the latest.`,
    changedMind: 'Changed your mind?',
    takeBack: (path: string, url: string) =>
      markup`At any time, remove its access at <a href="${path}">${url}</a>.`,
    deny: 'Deny',
    allow: 'Allow',
    footer: 'You opened this page from an app. If you did not, choose Deny.',
  },
  apps: {
    title: 'Connected apps',
    none: 'No app has access to your account.',
    some: 'These apps have access to your account, because you allowed it.',
    yours: 'Your apps',
    tick: 'Tick those that should lose their access.',
    granted: 'Granted',
    lastUsed: 'Last used',
    notYet: 'not yet',
    remove: 'Remove access',
    removeAll: 'Remove all apps',
    allOfThem:
      'Every app in this list loses its access at once, and so does one that you allowed since this page was opened.',
    removeThemAll: (count: number) => `Remove all ${count.toLocaleString(LOCALE)} apps`,
    footer:
      'Removing access works at once. It does not delete what an app has copied before: for that, ask the people who run it.',
    one: 'Connected app',
    titleOfOne: (app: string) => `Connected app: ${app}`,
    may: 'What it may do',
    all: 'All connected apps',
    noAppSelected: 'Nothing was removed, because no app is ticked.',
    removedBefore: 'This access was removed before.',
    removed: (app: string) => `${app} no longer has access.`,
    removedSeveral: (count: number) =>
      `${count.toLocaleString(LOCALE)} apps no longer have access.`,
  },
  wayOn: {
    toApp: 'Go back to the app and start again from there.',
    ofApp: 'Nothing is shared with an app before you have allowed it.',
    toAccount: 'Open your connected apps and start again from there.',
    ofAccount: 'Apps have access to your account only while you allow it.',
    returnTo: (app: string) => `Return to ${app}`,
  },
  post: {
    titleOf: (author: string) => `A post by ${author}`,
    by: 'By',
    in: 'In',
    on: 'On',
    images: 'Images',
    imageOn: (number: number, host: string) => `Image ${number.toLocaleString(LOCALE)} on ${host}`,
    tags: 'Tags',
    footer: 'This post is public. Everyone who has its address can read it.',
    missing: {
      title: 'There is no such post',
      paragraphs: ['It was deleted, it is not public, or its address is wrong.'],
    },
    openAgain: 'Open its address again.',
  },
  errors,
  landing,
};

export type Catalogue = typeof en;
