import type { FindManyOptions, FindOptionsWhere, ObjectType } from 'typeorm';
import { entities, type Transaction } from './transaction.js';
import { unchanged } from './unchanged.js';

/** Deletes rows and tells them, so that counters can follow. It holds them first: of two that want the same row one is told. */
export async function takeRows<T extends { createdAt: Date }>(
  tx: Transaction,
  entity: ObjectType<T>,
  where: FindOptionsWhere<T>,
  select: FindManyOptions<T>['select'],
): Promise<T[]> {
  const manager = entities(tx);
  const hold = manager.createQueryBuilder().update(entity).where(where);
  await hold.set({ createdAt: unchanged('created_at') } as object).execute();
  const rows = await manager.find(entity, { select, where });
  await manager.delete(entity, where);
  return rows;
}
