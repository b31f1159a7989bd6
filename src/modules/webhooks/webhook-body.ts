import { Injectable } from '@nestjs/common';
import { CommentResponse } from '../comments/comment.response.js';
import { CommentsService } from '../comments/comments.service.js';
import type { WebhookEvent } from '../events/event.entities.js';

/** Builds the bodies of events. What an event shows is read now, so a body never has what was deleted in the meantime. */
@Injectable()
export class WebhookBodies {
  constructor(private readonly comments: CommentsService) {}

  /** The JSON bodies of the events by id. */
  async of(events: readonly WebhookEvent[]): Promise<Map<string, string>> {
    const ids = events.flatMap(({ type, subjectId }) =>
      type === 'comment.created' && subjectId !== null ? [subjectId] : [],
    );
    const found = ids.length === 0 ? [] : await this.comments.existing(ids);
    const comments = new Map(
      found.map((comment) => [
        comment.id,
        CommentResponse.from(comment, this.comments.permalink(comment.postId)),
      ]),
    );
    return new Map(
      events.map((event) => {
        const { id, type, createdAt: timestamp } = event;
        const data = dataOf(event, comments);
        return [id, JSON.stringify({ id, type, timestamp, data })];
      }),
    );
  }
}

function dataOf(
  { type, userId, subjectId, details }: WebhookEvent,
  comments: ReadonlyMap<string, CommentResponse>,
): object {
  const id = subjectId ?? '';
  const about = userId === null ? {} : { userId };
  if (type === 'post.deleted') return { ...about, post: { id }, ...details };
  if (type === 'comment.created' || type === 'comment.deleted')
    return { ...about, ...details, comment: comments.get(id) ?? { id } };
  return { ...about, ...details };
}
