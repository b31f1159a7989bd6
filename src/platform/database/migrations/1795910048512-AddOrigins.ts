import type { MigrationInterface, QueryRunner } from 'typeorm';
import { optional, url } from './columns.js';
import { addMissingColumns, dropPresentColumns } from './steps.js';

/** Adds the origins of apps that run in web views and browser extensions. Version 1.1 leaves them empty. */
export class AddOrigins1795910048512 implements MigrationInterface {
  readonly name = 'AddOrigins1795910048512';

  async up(queryRunner: QueryRunner): Promise<void> {
    await addMissingColumns(queryRunner, 'apps', [optional(url('origins'))]);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropPresentColumns(queryRunner, 'apps', [optional(url('origins'))]);
  }
}
