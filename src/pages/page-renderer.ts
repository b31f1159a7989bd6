import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import { calendarDay } from './dates.js';
import { programFile } from '../platform/program-file.js';
import { CATALOGUES } from './translations/translations.js';
import { toHtml } from './translations/markup.js';
import { LOCALES, type Language } from './language.js';
import type {
  CodeView,
  ConnectedAppsView,
  ConnectedAppView,
  ConsentView,
  ErrorCodesView,
  LandingView,
  MessageView,
  OneConnectedAppView,
  PhoneView,
  PostView,
} from './views.js';

/**
 * Every HTML page of the service, as a string, in a language of the catalogue. Whatever a view holds is escaped.
 * Pages load one stylesheet of this server and nothing else, and need no JavaScript.
 */
@Injectable()
export class PageRenderer {
  private readonly eta = new Eta({
    views: fileURLToPath(programFile('src/pages/templates')),
    autoEscape: true,
    escapeFunction: toHtml,
    cache: true,
  });

  /** Asks for the phone number. */
  phone(view: PhoneView, language: Language): string {
    return this.render('./phone', view, language);
  }

  /** Asks for the one-time password, and offers a new one or another number. */
  code(view: CodeView, language: Language): string {
    return this.render('./code', view, language);
  }

  /** Asks the signed-in user what the app may do. */
  consent(view: ConsentView, language: Language): string {
    return this.render('./consent', view, language);
  }

  /** Lists the apps that have access to the account, to take it back from some or all. */
  connectedApps({ apps, ...view }: ConnectedAppsView, language: Language): string {
    const dated = apps.map((app) => withDays(app, language));
    return this.render('./connected-apps', { ...view, apps: dated }, language);
  }

  /** The same for one app. */
  connectedApp({ app, ...view }: OneConnectedAppView, language: Language): string {
    return this.render('./connected-app', { ...view, app: withDays(app, language) }, language);
  }

  /** Shows a public post to anybody. */
  post({ createdAt, images, ...view }: PostView, language: Language): string {
    const published = calendarDay(createdAt, LOCALES[language]);
    const linked = images.map((url) => ({ url, host: hostOf(url) }));
    return this.render('./post', { ...view, published, images: linked }, language);
  }

  /** Explains an error or a state. */
  message(view: MessageView, language: Language): string {
    return this.render('./message', view, language);
  }

  /** Lists the error codes of the developer API and of OAuth, in English like all that is for developers alone. */
  errorCodes(view: ErrorCodesView): string {
    return this.render('./errors', view, 'en');
  }

  /** Greets developers. */
  landing(view: LandingView, language: Language): string {
    return this.render('./landing', view, language);
  }

  private render(template: string, view: object, language: Language): string {
    return this.eta.render(template, { ...view, language, words: CATALOGUES[language] });
  }
}

function withDays(app: ConnectedAppView, language: Language): object {
  const { grantedAt, lastUsedAt } = app;
  return {
    ...app,
    granted: calendarDay(grantedAt, LOCALES[language]),
    lastUsed: lastUsedAt && calendarDay(lastUsedAt, LOCALES[language]),
  };
}

/** As browsers show it, so that letters of other scripts deceive nobody; as it was written where they would not take it. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  }
}
