import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  deletableRows,
  type DeletableRows,
} from '../../platform/database/retention/deletion-queries.js';
import {
  personalRows,
  type Person,
  type PersonalData,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { User } from './user.entity.js';

@Injectable()
export class UsersPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId: id }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, User, { wheres: [{ id }] })];
  }

  rowsToErase({ userId: id }: Person): DeletableRows[] {
    return [deletableRows(this.dataSource, User, { where: { id }, indexColumn: 'id' })];
  }
}
