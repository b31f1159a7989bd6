import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { App, AppRedirectUri } from './client.entities.js';

@Injectable()
export class BrowserOriginsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether an enabled public app, or this one where an id is given, has a redirect at `origin`, as `callingOrigin` spells it. */
  async isRegistered(origin: string, clientId?: string): Promise<boolean> {
    const redirects = this.dataSource.manager
      .createQueryBuilder(AppRedirectUri, 'redirect')
      .innerJoin(App, 'app', 'app.clientId = redirect.clientId')
      .where('redirect.origin = :origin', { origin })
      .andWhere("app.kind = 'public' AND app.status = 'enabled'");
    if (clientId !== undefined) redirects.andWhere('app.clientId = :clientId', { clientId });
    return redirects.getExists();
  }
}
