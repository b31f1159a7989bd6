import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import {
  childRows,
  deletableRows,
  type DeletableRows,
} from '../../../platform/database/retention/deletion-queries.js';
import {
  type PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../../platform/database/retention/data-subject.js';
import { rowsInPages } from '../../../platform/database/retention/rows-in-pages.js';
import { App } from '../clients/client.entities.js';
import { AccessToken, AuthorizationCode, Grant, RefreshToken } from './token.entities.js';

/** A user's grants with their codes and tokens. */
@Injectable()
export class GrantsPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId }: Person): PersonalRows[] {
    return [
      { table: 'grants', rows: this.grantsWithApp(userId) },
      this.rowsOfGrants(userId, AuthorizationCode, { omit: ['hash', 'codeChallenge'] }),
      this.rowsOfGrants(userId, AccessToken, { omit: ['hash'] }),
      this.rowsOfGrants(userId, RefreshToken, {
        omit: ['hash', 'predecessorHash', 'encryptedResponse'],
      }),
    ];
  }

  rowsToErase({ userId }: Person): DeletableRows[] {
    const children = [AuthorizationCode, AccessToken, RefreshToken].map((child) =>
      childRows<Grant, { grantId: string }>(this.dataSource, {
        parent: Grant,
        wheres: [{ userId }],
        child,
        foreignKey: 'grantId',
      }),
    );
    return [
      ...children,
      deletableRows(this.dataSource, Grant, { where: { userId }, indexColumn: 'userId' }),
    ];
  }

  /** The rows of `grants`, each with the name of the app. */
  private async *grantsWithApp(userId: string): AsyncGenerator<object> {
    const apps = await this.dataSource.manager.find(App);
    const names = new Map(apps.map(({ clientId, name }) => [clientId, name]));
    const grants = personalRows(this.dataSource, Grant, {
      wheres: [{ userId }],
      omit: ['userId'],
    }).rows;
    for await (const grant of grants as AsyncIterable<{ client_id: string }>)
      yield { ...grant, app: names.get(grant.client_id) };
  }

  /** The rows of `entity` that belong to the grants of the user. */
  private rowsOfGrants<T extends { grantId: string }>(
    userId: string,
    entity: EntityTarget<T>,
    { omit }: { omit: readonly (keyof T & string)[] },
  ): PersonalRows {
    const { dataSource } = this;
    async function* rows(): AsyncGenerator<object> {
      for await (const grants of rowsInPages(dataSource, Grant, {
        where: { userId },
        columns: ['id'],
      }))
        for (const { id: grantId } of grants)
          yield* personalRows<T>(dataSource, entity, { wheres: [{ grantId } as never], omit }).rows;
    }
    return { table: dataSource.getMetadata(entity).tableName, rows: rows() };
  }
}
