import { Injectable } from '@nestjs/common';
import { type Paging, type Part, partOf } from '../../platform/database/list-page.js';
import { idPattern } from '../../platform/ids.js';
import { parsePhone } from './phone-number.js';
import type { User } from './user.entity.js';
import { type UserMatch, UsersRepository } from './users.repository.js';

/** How to find the users that a text means: by unique values, or by reading all users. */
export type UserCriteria = { id: string } | { phone: string; externalId: string } | UserMatch;

/** Finds users of any status for an operator, newest first. */
@Injectable()
export class UserSearch {
  constructor(private readonly users: UsersRepository) {}

  async list(paging: Omit<Paging, 'page'>): Promise<Part<User>> {
    return partOf(await this.users.findNewest(paging), paging);
  }

  /**
   * Finds the users that have this id, phone number or external id, whose phone number ends with these four digits, or whose name
   * contains this text.
   */
  async find(text: string, paging: Omit<Paging, 'page'>): Promise<Part<User>> {
    const criteria = criteriaOf(text);
    if ('namePart' in criteria)
      return partOf(await this.users.findNewest(paging, criteria), paging);
    const { before } = paging;
    const found = (await this.findByKeys(criteria))
      .filter((user) => user !== null)
      .filter(({ id }) => before === undefined || id < before);
    const distinct = [...new Map(found.map((user) => [user.id, user])).values()];
    return partOf(
      distinct.toSorted((one, other) => (one.id < other.id ? 1 : -1)),
      paging,
    );
  }

  /** Each lookup uses a unique index. */
  private async findByKeys(criteria: Exclude<UserCriteria, UserMatch>): Promise<(User | null)[]> {
    if ('id' in criteria) return [await this.users.findById(criteria.id)];
    const { phone, externalId } = criteria;
    return Promise.all([
      this.users.findByPhoneAsParsed(phone),
      this.users.findByExternalId(externalId),
    ]);
  }
}

/** A phone number needs its country code, with `+`. Every text may be an external id, except the id of a user. */
export function criteriaOf(text: string): UserCriteria {
  if (idPattern('usr').test(text)) return { id: text };
  const phone = text.startsWith('+') ? parsePhone(text) : undefined;
  if (phone !== undefined) return { phone, externalId: text };
  const isPhoneEnd = /^\d{4}$/.test(text);
  return { externalId: text, namePart: text, ...(isPhoneEnd && { phoneEnd: text }) };
}
