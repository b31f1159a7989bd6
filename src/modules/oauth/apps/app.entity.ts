import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ID, SCOPE, text, TIME } from '../../../database/columns.js';

/** A registered client (RFC 6749 §2). */
@Entity('apps')
export class App {
  @PrimaryColumn(ID)
  clientId: string;

  @Column(text(200))
  name: string;

  /** The client type of RFC 6749 §2.1. */
  @Column(text(16))
  kind: 'public' | 'confidential';

  /** What the app may ask for. */
  @Column(SCOPE)
  scope: string;

  @Column(text(16))
  status: 'enabled' | 'disabled';

  @Column(TIME)
  createdAt: Date;
}
