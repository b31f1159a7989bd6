import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('users')
export class User {
  @PrimaryColumn({ length: 40 })
  id: string;

  @Column({ length: 16 })
  status: 'active' | 'blocked';

  @Column({ length: 16 })
  phone: string;

  @Column({ length: 200 })
  name: string;

  @Column({ name: 'photo_url', type: 'varchar', length: 2048, nullable: true })
  photoUrl: string | null;

  @Column()
  karma: number;

  @Column({ type: 'varchar', length: 200, nullable: true })
  neighborhood: string | null;

  @Column({ type: 'double', nullable: true })
  latitude: number | null;

  @Column({ type: 'double', nullable: true })
  longitude: number | null;

  @Column({ name: 'post_count' })
  postCount: number;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt: Date;
}
