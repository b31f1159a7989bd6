import { TableColumn, type MigrationInterface, type QueryRunner } from 'typeorm';
import { optional, url } from './columns.js';

/** Adds the origins of apps that run in web views and browser extensions. Version 1.1 leaves them empty. */
export class AddOrigins1795910048512 implements MigrationInterface {
  readonly name = 'AddOrigins1795910048512';

  /** Continues an interrupted run, because MySQL and MariaDB commit each step separately. */
  async up(queryRunner: QueryRunner): Promise<void> {
    if (!(await queryRunner.hasColumn('apps', 'origins')))
      await queryRunner.addColumn('apps', new TableColumn(optional(url('origins'))));
  }

  /** Continues an interrupted run, like `up`. */
  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn('apps', 'origins'))
      await queryRunner.dropColumn('apps', 'origins');
  }
}
