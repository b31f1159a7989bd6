import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThan } from 'typeorm';
import { insertRow } from '../../../database/insert.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { Grant } from '../grants/grant.entity.js';
import { AuthorizationCode } from './authorization-code.entity.js';

/** A stored code with the grant that it belongs to. */
export interface IssuedCode {
  code: AuthorizationCode;
  grant: Grant;
}

@Injectable()
export class AuthorizationCodesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, code: AuthorizationCode): Promise<void> {
    await insertRow(tx, AuthorizationCode, code);
  }

  async find(hash: string): Promise<IssuedCode | null> {
    const code = await this.dataSource.manager.findOneBy(AuthorizationCode, { hash });
    const grant = code && (await this.dataSource.manager.findOneBy(Grant, { id: code.grantId }));
    return code && grant ? { code, grant } : null;
  }

  /** Whether this app got a code for this challenge before. */
  wasIssuedFor(clientId: string, codeChallenge: string): Promise<boolean> {
    return this.dataSource.manager
      .createQueryBuilder(AuthorizationCode, 'code')
      .innerJoin(Grant, 'grant', 'grant.id = code.grantId')
      .where('code.codeChallenge = :codeChallenge', { codeChallenge })
      .andWhere('grant.clientId = :clientId', { clientId })
      .getExists();
  }

  /** False when it was used or has expired: of two exchanges, one gets tokens (RFC 6749 §4.1.2). */
  async consume(tx: Transaction, hash: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      AuthorizationCode,
      { hash, consumedAt: IsNull(), expiresAt: MoreThan(now) },
      { consumedAt: now },
    );
    return affected === 1;
  }
}
