import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, optional, text } from '../../database/columns.js';

/** An app's arrangement with the operator. An app without one has the default limit. */
@Entity('app_quotas')
export class AppQuota {
  @PrimaryColumn(ID)
  clientId: string;

  /** Name of a configured plan, or `custom`. */
  @Column(text(32))
  plan: string;

  /** Posts per calendar month; null is unlimited. Of a plan: what it gave when it was arranged. */
  @Column(optional(INTEGER))
  monthlyPostLimit: number | null;
}
