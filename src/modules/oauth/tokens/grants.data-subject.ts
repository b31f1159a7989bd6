import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import {
  childRows,
  expiredRows,
  type ExpiredRows,
} from '../../../platform/database/retention/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../../platform/database/retention/data-subject.js';
import { rowsInPages } from '../../../platform/database/retention/rows-in-pages.js';
import { App } from '../clients/client.entities.js';
import { AccessToken, AuthorizationCode, Grant, RefreshToken } from './token.entities.js';

/** What a person granted to apps, with every code and token of it. */
@Injectable()
export class GrantsPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    const ofGrants = <T extends { grantId: string }>(
      entity: EntityTarget<T>,
      omit: readonly (keyof T & string)[],
    ): PersonalRows => ({
      table: this.dataSource.getMetadata(entity).tableName,
      rows: this.ofGrants(userId, entity, omit),
    });
    return [
      { table: 'grants', rows: this.grants(userId) },
      ofGrants(AuthorizationCode, ['hash', 'codeChallenge']),
      ofGrants(AccessToken, ['hash']),
      ofGrants(RefreshToken, ['hash', 'predecessorHash', 'sealedAnswer']),
    ];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    const wheres = [{ userId }];
    return [
      ...[AuthorizationCode, AccessToken, RefreshToken].map((child) =>
        childRows<Grant, { grantId: string }>(this.dataSource, {
          parent: Grant,
          wheres,
          child,
          link: 'grantId',
        }),
      ),
      expiredRows(this.dataSource, Grant, { userId }, 'userId'),
    ];
  }

  /** Each with the name of its app. */
  private async *grants(userId: string): AsyncGenerator<object> {
    const names = new Map<string, string>();
    for (const { clientId, name } of await this.dataSource.manager.find(App))
      names.set(clientId, name);
    const grants = personalRows(this.dataSource, Grant, [{ userId }], ['userId']).rows;
    for await (const grant of grants as AsyncIterable<{ client_id: string }>)
      yield { ...grant, app: names.get(grant.client_id) };
  }

  private async *ofGrants<T extends { grantId: string }>(
    userId: string,
    entity: EntityTarget<T>,
    omit: readonly (keyof T & string)[],
  ): AsyncGenerator<object> {
    for await (const grants of rowsInPages(this.dataSource, Grant, { userId }, ['id']))
      for (const { id: grantId } of grants)
        yield* personalRows<T>(this.dataSource, entity, [{ grantId } as never], omit).rows;
  }
}
