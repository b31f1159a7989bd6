import { Injectable } from '@nestjs/common';
import { AuditPersonalData } from '../../audit/audit.personal-data.js';
import type { ExpiredRows } from '../../database/expired-rows.js';
import type { PersonalData, Person, PersonalRows } from '../../database/personal-data.js';
import { IdempotencyPersonalData } from '../../idempotency/idempotency.personal-data.js';
import { CommentsPersonalData } from '../../modules/comments/comments.personal-data.js';
import { GrantsPersonalData } from '../../modules/oauth/grants/grants.personal-data.js';
import { SignInPersonalData } from '../../modules/oauth/sign-in/sign-in.personal-data.js';
import { PostsPersonalData } from '../../modules/posts/posts.personal-data.js';
import { CallsPersonalData } from '../../modules/quota/calls.personal-data.js';
import { UsersPersonalData } from '../../modules/users/users.personal-data.js';

/** Everything that the platform keeps about people. */
@Injectable()
export class EverythingPersonal {
  private readonly parts: readonly PersonalData[];

  constructor(
    private readonly users: UsersPersonalData,
    posts: PostsPersonalData,
    comments: CommentsPersonalData,
    grants: GrantsPersonalData,
    signIn: SignInPersonalData,
    idempotency: IdempotencyPersonalData,
    calls: CallsPersonalData,
    audit: AuditPersonalData,
  ) {
    // Comments go before the posts that they are found by.
    this.parts = [comments, posts, grants, signIn, idempotency, calls, audit];
  }

  held(person: Person): PersonalRows[] {
    return [this.users, ...this.parts].flatMap((part) => part.held(person));
  }

  /** In the order in which it goes. The person's own row is not among it: it goes last, and tells until then whose the rest is. */
  erased(person: Person): ExpiredRows[] {
    return this.parts.flatMap((part) => part.erased(person));
  }

  /** The person's own row. */
  own(person: Person): ExpiredRows[] {
    return this.users.erased(person);
  }
}
