import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError, type PageErrorCode } from '../../../pages/page-errors.js';
import type { Catalogue } from '../../../pages/translations/en/catalogue.js';
import type { Text } from '../../../pages/translations/markup.js';
import { parseCountry } from '../../users/phone-number.js';
import { isId } from '../../../platform/ids.js';
import { randomToken } from '../../../platform/secrets.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { BrowserBinding } from '../protocol/browser-binding.js';
import { Parameters } from '../protocol/parameters.js';

/** A longer input is not shown again in full: the cookie of the page must stay small. */
const MAX_SHOWN_CHARACTERS = 64;

/** More pages than a user has open at a time, and few enough for a cookie of 4,096 bytes. */
const MAX_PAGES = 5;

/** The page that shows the result of a form. */
export interface ResultPage {
  url: string;
  /** The path that the states of this page and of those below it have in the cookie. */
  statePath: string;
}

const APPS_PATH = '/account/apps';

/** The connected apps. */
export const APPS_PAGE: ResultPage = { url: APPS_PATH, statePath: APPS_PATH };

/** Whether the path is below `/account`. Routes are case-insensitive. */
export function isAccountPage(path: string): boolean {
  return /^\/account\b/i.test(path);
}

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** Set once the form token is verified. `PageErrorFilter` redirects to it with the error. */
    resultPage?: ResultPage;
  }
}

/**
 * The result of a form, for the page that shows it. Every form redirects to such a page, so that Back and Reload repeat no form. The
 * state is in a cookie, not a part of the URL of the page, because it may contain a phone number. One cookie has the states of all
 * pages: several browsers ignore a cookie whose path is not a prefix of the path that sets it (as RFC 2109 §4.3.2 demanded).
 */
export interface PageState {
  /** As typed for the phone page, E.164 for the page of the one-time password. */
  phone?: string;
  /** The selected country of the phone (ISO 3166-1 alpha-2). */
  country?: string;
  message?: Message;
  /** The code of a `PageError`. */
  error?: string;
  /** Seconds until the user may try again, for `Retry-After`. */
  seconds?: number;
  /** With `error`. */
  requestId?: string;
  /** With `disconnected`: the number of apps, or the only one. */
  count?: number;
  clientId?: string;
}

/** The phone and country of a submitted form, to fill in the form again. */
export function typedPhone(form: Parameters): Pick<PageState, 'phone' | 'country'> {
  const phone = form.get('phone')?.slice(0, MAX_SHOWN_CHARACTERS);
  return { phone, country: parseCountry(form.get('country')) };
}

/** How a page shows a message: as an error at the field, or as a notice. */
interface Shown {
  status: 200 | 400 | 429 | 503;
  error?: Text;
  notice?: Text;
}

type MessageValues = Pick<PageState, 'seconds' | 'count'> & {
  /** Guesses at the one-time password of the page. */
  attemptsLeft?: number;
  /** Its digits. */
  digits?: number;
  /** Whether there are none left because too many were wrong. */
  isUsedUp?: boolean;
  /** The name of the app with `clientId`. */
  appName?: string;
};

/** The messages about a form, with the values of the state. */
const MESSAGES = {
  invalid_phone: ({ phone }) => ({ status: 400, error: phone.invalid }),
  /** The number is possible, but no known range contains it. The user may submit it again. */
  check_phone: ({ phone }) => ({ status: 400, error: phone.check }),
  /** The signed-in user is real, but the app is a test app, or the reverse. */
  test_app: ({ phone }) => ({ status: 400, error: phone.testApp }),
  test_account: ({ phone }) => ({ status: 400, error: phone.testAccount }),
  unsupported_country: ({ phone }) => ({ status: 400, error: phone.unsupportedCountry }),
  /** The page says it, as long as it is so. */
  paused: () => ({ status: 503 }),
  invalid_code: ({ code }, { attemptsLeft = 0, digits = 0 }) => ({
    status: 400,
    error: attemptsLeft > 0 ? code.invalid(digits) : code.expired,
  }),
  wrong_code({ code }, { attemptsLeft = 0, isUsedUp = false }) {
    if (attemptsLeft > 0) return { status: 400, error: code.wrong(attemptsLeft) };
    return { status: 400, error: isUsedUp ? code.lastWrong : code.expired };
  },
  expired_code: ({ code }) => ({ status: 400, error: code.expired }),
  sent_again: ({ code }) => ({ status: 200, notice: code.sentAgain }),
  wait_too_long: ({ code }, { seconds = 0 }) => ({ status: 429, error: code.waitTooLong(seconds) }),
  /** The user asked for a new one-time password too early. The page says when it will be possible. */
  too_early: ({ code }) => ({ status: 429, error: code.tooEarly }),
  last_code_works: ({ code }) => ({ status: 429, notice: code.lastCodeWorks }),
  /** The user started again too early, and continues with the one-time password of before, if it is valid. */
  earlier_code_works: ({ code }) => ({ status: 200, notice: code.lastCodeWorks }),
  no_earlier_code: () => ({ status: 429 }),
  already_disconnected: ({ apps }) => ({ status: 200, notice: apps.alreadyDisconnected }),
  browser_signed_out: ({ apps }) => ({ status: 200, notice: apps.browserSignedOut }),
  browser_already_signed_out: ({ apps }) => ({ status: 200, notice: apps.browserAlreadySignedOut }),
  disconnected: ({ apps }, { count = 0, appName }) => ({
    status: 200,
    notice: appName === undefined ? apps.disconnectedSeveral(count) : apps.disconnected(appName),
  }),
} satisfies Record<string, (texts: Catalogue, values: MessageValues) => Shown>;

export type Message = keyof typeof MESSAGES;

/** The message of a page, and how its response reports it. */
export type Feedback = Shown & { retryAfterSeconds?: number };

export function messageOf(
  { message, ...values }: MessageValues & Pick<PageState, 'message'>,
  texts: Catalogue,
): Feedback {
  if (message === undefined) return { status: 200 };
  const shown: Shown = MESSAGES[message](texts, values);
  return shown.status === 429 ? { ...shown, retryAfterSeconds: values.seconds } : shown;
}

/** Carries the state of pages from a form to the page that shows its result. */
@Injectable()
export class PageStates {
  constructor(private readonly browsers: BrowserBinding) {}

  /**
   * Redirects to the page that shows the state. If the state replaces another, an older browser may have that page. A text browser may
   * have it without a state, too, such as the connected apps.
   */
  redirect(response: Response, { url, statePath }: ResultPage, state: PageState = {}): void {
    const isShown = !isEmpty(state) && Object.hasOwn(this.stored(response.req), statePath);
    this.save(response, statePath, state);
    const toNewAddress = isShown ? newAddress : addressOfChangedPage;
    sendRedirect(response, toNewAddress(response.req, url));
  }

  /**
   * The state of the opened page. Its message and error are shown once.
   * @throws PageError the error of the form
   */
  take(request: Request, response: Response, statePath: string): PageState {
    const state = parseState(this.stored(request)[statePath]);
    const { message, error, ...rest } = state;
    if (message !== undefined || error !== undefined)
      this.save(response, statePath, { phone: rest.phone, country: rest.country });
    const pageError = toPageError(state);
    if (pageError) throw pageError;
    return state;
  }

  private save(response: Response, statePath: string, state: PageState): void {
    const { [statePath]: _replaced, ...others } = this.stored(response.req);
    const states = isEmpty(state) ? others : { [statePath]: state, ...others };
    const newest = Object.fromEntries(Object.entries(states).slice(0, MAX_PAGES));
    this.browsers.setPageStates(response, isEmpty(newest) ? '' : JSON.stringify(newest));
  }

  /** The states in the cookie, by `statePath`, the newest first. */
  private stored(request: Request): Record<string, unknown> {
    try {
      return { ...(JSON.parse(this.browsers.pageStates(request) ?? '{}') as object) };
    } catch {
      return {};
    }
  }
}

function isEmpty(values: object): boolean {
  return Object.values(values).every((value) => value === undefined);
}

/**
 * The URL of a page that the browser may have already, with a parameter that makes it a new one for older browsers: links2 and elinks do
 * not load such a page again, although its response was `no-store`. Current browsers, which send `Sec-Fetch-Site`, do.
 */
export function newAddress(request: Request, url: string): string {
  if (request.get('sec-fetch-site') !== undefined) return url;
  return withParameter(url, 'n', randomToken().slice(0, 8));
}

/**
 * The URL of a page that a form has changed, for example by a sign-out. Only text browsers send no `Origin` with a form; all others keep
 * the address.
 */
export function addressOfChangedPage(request: Request, url: string): string {
  const isTextBrowser = request.method === 'POST' && request.get('origin') === undefined;
  return isTextBrowser ? newAddress(request, url) : url;
}

/** Adds a parameter to the query of a URL. */
export function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${value}`;
}

/** Any program on the user's machine may set the cookie, so each value is checked. */
function parseState(stored: unknown): PageState {
  const values = new Map(Object.entries({ ...(stored as object) }));
  const text = (name: string): string | undefined => {
    const value: unknown = values.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const number = (name: string): number | undefined => {
    const value: unknown = values.get(name);
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
      ? value
      : undefined;
  };
  const message = text('message');
  return {
    phone: text('phone'),
    country: text('country'),
    message: message !== undefined && isMessage(message) ? message : undefined,
    error: text('error'),
    seconds: number('seconds'),
    requestId: text('requestId'),
    clientId: text('clientId'),
    count: number('count'),
  };
}

function isMessage(name: string): name is Message {
  return Object.hasOwn(MESSAGES, name);
}

/** The errors that a form reports to the page after it. The page finds the others by itself, such as an expired sign-in. */
const FORM_ERRORS = [
  'too_many_attempts',
  'locked_phone',
  'service_unavailable',
  'internal_error',
  'malformed_form',
  'foreign_form',
] as const satisfies readonly PageErrorCode[];

function toPageError({ error, seconds, requestId }: PageState): PageError | undefined {
  const code = FORM_ERRORS.find((one) => one === error);
  if (code === undefined) return undefined;
  const pageError = new PageError(code, seconds);
  if (isId('req', requestId)) pageError.requestId = requestId;
  return pageError;
}
