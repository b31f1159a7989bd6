import { Injectable } from '@nestjs/common';
import { isId } from '../../../common/ids.js';
import { callingOrigin } from '../apps/redirect-uri.js';
import { BrowserOriginsRepository } from './browser-origins.repository.js';

/** From which origins browser apps may call: those where an enabled public app has a redirect. */
@Injectable()
export class BrowserOrigins {
  constructor(private readonly repository: BrowserOriginsRepository) {}

  /** `clientId` is the app that the request names, if it names one: then only its own origins count. */
  async isAllowed(origin: string, clientId?: string): Promise<boolean> {
    const from = callingOrigin(origin);
    if (from === undefined) return false;
    if (clientId !== undefined && !isId('svc_app', clientId)) return false;
    return this.repository.isRegistered(from, clientId);
  }
}
