import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  personalRows,
  type Person,
  type PersonalData,
  type PersonalRows,
} from '../../../platform/database/retention/data-subject.js';
import {
  rowsToClear,
  type DeletableRows,
} from '../../../platform/database/retention/deletion-queries.js';
import { ApiCall } from './call-log.entities.js';

/** Calls that apps made on behalf of the user. They belong to the app, so erasure only clears the user id. */
@Injectable()
export class CallsPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, ApiCall, { wheres: [{ userId }], omit: ['userId'] })];
  }

  rowsToErase({ userId }: Person): DeletableRows[] {
    return [
      rowsToClear(this.dataSource, ApiCall, {
        where: { userId },
        indexColumn: 'userId',
        set: { userId: null },
      }),
    ];
  }
}
