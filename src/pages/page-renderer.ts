import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import { AppConfig } from '../platform/config/app-config.js';
import { assetUrl } from '../platform/asset-url.js';
import { CATALOGUES } from './translations/translations.js';
import { toHtml } from './translations/markup.js';
import { formatTime, initialOf, LOCALES, type Language } from './language.js';
import type {
  CodeView,
  ConnectedAppsView,
  ConnectedAppView,
  ConsentView,
  ErrorCodesView,
  GuideView,
  LandingView,
  MessageView,
  OneConnectedAppView,
  PhoneView,
  PostView,
  RepeatedConsentView,
} from './views.js';

/** Renders the HTML pages. Escapes the values of views, except `Markup`. Every page works without JavaScript. */
@Injectable()
export class PageRenderer {
  private readonly eta = new Eta({
    views: fileURLToPath(assetUrl('src/pages/templates')),
    autoEscape: true,
    escapeFunction: toHtml,
    cache: true,
  });

  constructor(private readonly config: AppConfig) {}

  phone(view: PhoneView, language: Language): string {
    return this.render('./phone', view, language);
  }

  code(view: CodeView, language: Language): string {
    return this.render('./code', view, language);
  }

  consent(view: ConsentView, language: Language): string {
    return this.render('./consent', view, language);
  }

  repeatedConsent(view: RepeatedConsentView, language: Language): string {
    return this.render('./repeated-consent', view, language);
  }

  connectedApps({ apps, ...view }: ConnectedAppsView, language: Language): string {
    const formatted = apps.map((app) => withFormattedTimes(app, language));
    return this.render('./connected-apps', { ...view, apps: formatted }, language);
  }

  connectedApp({ app, ...view }: OneConnectedAppView, language: Language): string {
    return this.render(
      './connected-app',
      { ...view, app: withFormattedTimes(app, language) },
      language,
    );
  }

  post({ createdAt, images, ...view }: PostView, language: Language): string {
    const published = formatTime(createdAt, LOCALES[language]);
    const links = images.map((url) => ({ url, host: hostOf(url) }));
    return this.render('./post', { ...view, published, images: links }, language);
  }

  message(view: MessageView, language: Language): string {
    return this.render('./message', view, language);
  }

  errorCodes(view: ErrorCodesView): string {
    return this.render('./errors', view, 'en');
  }

  guide(view: GuideView): string {
    return this.render('./guide', view, 'en');
  }

  landing(view: LandingView, language: Language): string {
    return this.render('./landing', view, language);
  }

  private render(template: string, view: object, language: Language): string {
    const texts = CATALOGUES[language];
    const { name, logo, ...brand } = this.config.brand;
    const network = { ...brand, name: name ?? texts.layout.network, logo: logo?.type };
    return this.eta.render(template, { ...view, language, texts, network, initialOf });
  }
}

function withFormattedTimes(app: ConnectedAppView, language: Language): object {
  const { grantedAt, lastUsedAt } = app;
  return {
    ...app,
    granted: formatTime(grantedAt, LOCALES[language]),
    lastUsed: lastUsedAt && formatTime(lastUsedAt, LOCALES[language]),
  };
}

/** The host in punycode, which exposes homographs. Unchanged if the URL is invalid. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  }
}
