import type { OpenAPIObject } from '@nestjs/swagger';
import { SCOPES } from '../platform/access/scopes.js';
import { idPattern, type IdPrefix } from '../platform/ids.js';
import { TIME } from '../platform/http/validation/schemas.openapi.js';
import type { EventType } from '../modules/events/event-types.js';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Operation = NonNullable<Webhooks[string]['post']>;
type Schema = Record<string, unknown>;

const id = (prefix: IdPrefix, description: string): Schema => ({
  type: 'string',
  description,
  pattern: idPattern(prefix).source,
});
const object = (
  properties: Record<string, Schema>,
  required = Object.keys(properties),
): Schema => ({
  type: 'object',
  properties,
  required,
});
const USER = id('usr', 'The member.');
const COMMENT_ID = object({ id: id('cmt', 'Identifier of the comment.') });
const scopes = (description: string): Schema => ({
  type: 'array',
  items: { type: 'string', enum: SCOPES },
  description,
});

/** Summary and `data` of each event. */
const EVENTS: Readonly<Record<EventType, readonly [summary: string, data: Schema]>> = {
  'comment.created': [
    "A comment was added to one of the member's posts, by any app. Needs posts.read.",
    object({
      userId: USER,
      postId: id('post', 'The post.'),
      comment: {
        description: 'The comment; only its id if it was deleted before the event was sent.',
        anyOf: [{ $ref: '#/components/schemas/Comment' }, COMMENT_ID],
      },
    }),
  ],
  'comment.deleted': [
    "A comment on one of the member's posts was deleted. Needs posts.read.",
    object({ userId: USER, postId: id('post', 'The post.'), comment: COMMENT_ID }),
  ],
  'post.deleted': [
    'A post that the app published was deleted by another app or the operator.',
    object(
      {
        userId: USER,
        post: object({ id: id('post', 'Identifier of the post.') }),
        reason: { type: 'string', description: 'The reason of the operator, if it is public.' },
      },
      ['userId', 'post'],
    ),
  ],
  'grant.narrowed': [
    'The member allows the app less than before, or one of several grants of the member ended.',
    object({ userId: USER, scopes: scopes('The scopes that remain.') }),
  ],
  'grant.revoked': [
    'The app has no access to the member any more. It is not sent if the app ended it, or if it expired.',
    object({ userId: USER, scopes: scopes('Empty: no scope remains.') }),
  ],
  'quota.threshold': [
    'The app has used 75, 90 or 100 percent of its posts of the month. Each is sent once a month.',
    object({
      month: { type: 'string', description: 'The UTC month, such as 2026-11.' },
      percent: { type: 'integer', enum: [75, 90, 100] },
      limit: { type: 'integer', description: 'Posts per month.' },
      used: { type: 'integer', description: 'Posts used so far.' },
    }),
  ],
  'webhook.test': ['The operator tests the endpoint.', object({})],
};

const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' },
});

/** The requests that the service sends to the endpoint of an app (OpenAPI 3.1 §4.8.1.1). */
export function webhooks(): Webhooks {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, [summary, data]]) => [
      type,
      { post: operation(type, summary, data) },
    ]),
  );
}

function operation(type: string, summary: string, data: Schema): Operation {
  const body = object({
    id: id('msg', 'Identifier of the event, the same in each attempt and as webhook-id.'),
    type: { type: 'string', const: type },
    timestamp: {
      ...TIME,
      type: 'string',
      description: 'Time of the event (UTC). Attempts can be days later.',
    },
    data,
  });
  return {
    operationId: `receive${type.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    tags: ['events'],
    summary,
    description:
      'Verify the signature, store the event, and return a status from 200 to 299 within 15 seconds. See the page "Events" of the developer guide.',
    security: [],
    parameters: [
      header('webhook-id', 'The id of the event. Ignore an event whose id you have seen.'),
      header(
        'webhook-timestamp',
        'Time of the attempt, in seconds since 1970. Reject the request if it is more than five minutes ago.',
      ),
      header(
        'webhook-signature',
        'Signatures as Standard Webhooks specifies, separated by spaces: one, or two while the secret is rotated.',
      ),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      '2XX': { description: 'The app has the event.' },
      '410': { description: 'The endpoint is gone: the service disables it.' },
      default: {
        description:
          'Also without a response: the service sends the event again, ten attempts in about three days. It obeys Retry-After of 429 and 503, up to a day.',
      },
    },
  };
}
