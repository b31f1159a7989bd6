import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import { inWords } from '../common/duration.js';
import type {
  CodeView,
  ConsentView,
  ErrorCodesView,
  LandingView,
  MessageView,
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
