import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import { calendarDay } from '../common/calendar-day.js';
import { inWords } from '../common/duration.js';
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
} from './views.js';

/**
 * Every HTML page of the service, as a string. Whatever a view holds is escaped.
 * Pages load one stylesheet of this server and nothing else, and need no JavaScript.
 */
@Injectable()
export class PageRenderer {
  private readonly eta = new Eta({
    views: fileURLToPath(new URL('./templates', import.meta.url)),
    autoEscape: true,
    cache: true,
  });

  /** Asks for the phone number. */
  phone(view: PhoneView): string {
    return this.eta.render('./phone', view);
  }

  /** Asks for the one-time password, and offers a new one or another number. */
  code(view: CodeView): string {
    return this.eta.render('./code', view);
  }

  /** Asks the signed-in user what the app may do. */
  consent(view: ConsentView): string {
    const { lifetimes } = view;
    return this.eta.render('./consent', {
      ...view,
      unusedFor: inWords(lifetimes.refreshIdle),
      atMost: inWords(lifetimes.grant),
    });
  }

  /** Lists the apps that have access to the account, to take it back from some or all. */
  connectedApps({ apps, ...view }: ConnectedAppsView): string {
    return this.eta.render('./connected-apps', { ...view, apps: apps.map(withDays) });
  }

  /** The same for one app. */
  connectedApp({ app, ...view }: OneConnectedAppView): string {
    return this.eta.render('./connected-app', { ...view, app: withDays(app) });
  }

  /** Explains an error or a state. */
  message(view: MessageView): string {
    return this.eta.render('./message', view);
  }

  /** Lists the developer API's error codes. */
  errorCodes(view: ErrorCodesView): string {
    return this.eta.render('./errors', view);
  }

  /** Greets developers. */
  landing(view: LandingView): string {
    return this.eta.render('./landing', view);
  }
}

function withDays(app: ConnectedAppView): object {
  const { grantedAt, lastUsedAt } = app;
  return {
    ...app,
    granted: calendarDay(grantedAt),
    lastUsed: lastUsedAt && calendarDay(lastUsedAt),
  };
}
