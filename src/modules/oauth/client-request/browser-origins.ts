import { Injectable } from '@nestjs/common';
import { isId } from '../../../common/ids.js';
import { callingOrigin } from '../apps/redirect-uri.js';
import { BrowserOriginsRepository } from './browser-origins.repository.js';

/** From which origins browser apps may call: those where an enabled public app has a redirect. */
@Injectable()
export class BrowserOrigins {
  constructor(private readonly repository: BrowserOriginsRepository) {}

  /**
   * `named` are the apps that the request names. If it names one, only that one's own origins count; if several, it
   * contradicts itself, and no origin does.
   */
  async isAllowed(origin: string, named: readonly string[] = []): Promise<boolean> {
    const from = callingOrigin(origin);
    if (from === undefined || named.length > 1) return false;
    const [clientId] = named;
    if (clientId !== undefined && !isId('svc_app', clientId)) return false;
    return this.repository.isRegistered(from, clientId);
  }
}
