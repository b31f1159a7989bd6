import { Injectable } from '@nestjs/common';
import { entities, type Transaction } from '../../database/transaction.js';
import { ApiCall } from './api-call.entity.js';

@Injectable()
export class CallsRepository {
  async insert(tx: Transaction, calls: ApiCall[]): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .insert()
      .into(ApiCall)
      .values(calls)
      .updateEntity(false)
      .execute();
  }
}
