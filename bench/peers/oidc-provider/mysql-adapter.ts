import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { epochSeconds, tableOf, type ModelTable } from './model-tables.js';

interface StoredModel extends RowDataPacket {
  payload: string;
  consumed_at: number | null;
}

/** Stores the objects of one model in its table. */
export class MysqlAdapter implements Adapter {
  private readonly table: ModelTable;
  private readonly upsertSql: string;

  constructor(
    private readonly pool: Pool,
    model: string,
  ) {
    this.table = tableOf(model);
    const { name, columns } = this.table;
    const updates = columns.slice(1).map((column) => `${column} = VALUES(${column})`);
    this.upsertSql =
      `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ` +
      `ON DUPLICATE KEY UPDATE ${updates.join(', ')}`;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    await this.pool.execute(this.upsertSql, this.table.row(id, payload, expiresIn));
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return this.findBy('id', id);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.findBy('uid', uid);
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.findBy('user_code', userCode);
  }

  async consume(id: string): Promise<void> {
    const sql = `UPDATE ${this.table.name} SET consumed_at = ? WHERE id = ?`;
    await this.pool.execute(sql, [epochSeconds(), id]);
  }

  async destroy(id: string): Promise<void> {
    await this.pool.execute(`DELETE FROM ${this.table.name} WHERE id = ?`, [id]);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.pool.execute(`DELETE FROM ${this.table.name} WHERE grant_id = ?`, [grantId]);
  }

  private async findBy(column: string, value: string): Promise<AdapterPayload | undefined> {
    const sql = `SELECT payload, consumed_at FROM ${this.table.name} WHERE ${column} = ?`;
    const [[row]] = await this.pool.execute<StoredModel[]>(sql, [value]);
    if (!row) return undefined;
    const payload = JSON.parse(row.payload) as AdapterPayload;
    return row.consumed_at === null ? payload : { ...payload, consumed: row.consumed_at };
  }
}
