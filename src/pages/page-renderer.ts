import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import { programFile } from '../platform/program-file.js';
import { CATALOGUES } from './translations/translations.js';
import { toHtml } from './translations/markup.js';
import { calendarDay, LOCALES, type Language } from './language.js';
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

/** Renders every HTML page. Values of views are escaped. Pages load one stylesheet and no JavaScript. */
@Injectable()
export class PageRenderer {
  private readonly eta = new Eta({
    views: fileURLToPath(programFile('src/pages/templates')),
    autoEscape: true,
    escapeFunction: toHtml,
    cache: true,
  });

  phone(view: PhoneView, language: Language): string {
    return this.render('./phone', view, language);
  }

  code(view: CodeView, language: Language): string {
    return this.render('./code', view, language);
  }

  consent(view: ConsentView, language: Language): string {
    return this.render('./consent', view, language);
  }

  connectedApps({ apps, ...view }: ConnectedAppsView, language: Language): string {
    const dated = apps.map((app) => withDays(app, language));
    return this.render('./connected-apps', { ...view, apps: dated }, language);
  }

  connectedApp({ app, ...view }: OneConnectedAppView, language: Language): string {
    return this.render('./connected-app', { ...view, app: withDays(app, language) }, language);
  }

  post({ createdAt, images, ...view }: PostView, language: Language): string {
    const published = calendarDay(createdAt, LOCALES[language]);
    const linked = images.map((url) => ({ url, host: hostOf(url) }));
    return this.render('./post', { ...view, published, images: linked }, language);
  }

  message(view: MessageView, language: Language): string {
    return this.render('./message', view, language);
  }

  errorCodes(view: ErrorCodesView): string {
    return this.render('./errors', view, 'en');
  }

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

/** As browsers show it, in punycode, against homographs; as written if it is not a valid URL. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  }
}
