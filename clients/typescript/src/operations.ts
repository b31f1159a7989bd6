// Generated from openapi/openapi.json by "npm run openapi".

/** Method and path of each operation, and `list` if its result is a page of a list. */
export const OPERATIONS = {
  /** Delete a comment that the user wrote. */
  deleteComment: ['DELETE', '/dev/v1/comments/{id}'],
  /** Retrieve the profile of the user who authorized the app. */
  getMe: ['GET', '/dev/v1/me'],
  /** List the user's posts, newest first. */
  listPosts: ['GET', '/dev/v1/posts', 'list'],
  /** Publish a post on behalf of the user. */
  createPost: ['POST', '/dev/v1/posts'],
  /** Retrieve one of the user's posts. */
  getPost: ['GET', '/dev/v1/posts/{id}'],
  /** Delete one of the user's posts. */
  deletePost: ['DELETE', '/dev/v1/posts/{id}'],
  /** Retrieve the like and comment counts of one of the user's posts. */
  getPostAnalytics: ['GET', '/dev/v1/posts/{id}/analytics'],
  /** List the comments on one of the user's posts, newest first. */
  listComments: ['GET', '/dev/v1/posts/{id}/comments', 'list'],
  /** Create a comment on one of the user's posts. */
  createComment: ['POST', '/dev/v1/posts/{id}/comments'],
  /** Retrieve the app's quota for the current month. */
  getQuota: ['GET', '/dev/v1/quota'],
  /** List the requests that the app sent for the user, newest first. */
  listRequests: ['GET', '/dev/v1/requests', 'list'],
  /** Retrieve a request that the app sent for the user. */
  getRequest: ['GET', '/dev/v1/requests/{id}'],
} as const;

export interface components {
  schemas: {
    /** @description Engagement counts of a post. */
    Analytics: {
      /**
       * @description Unique identifier of the post.
       * @example post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Number of users who like the post.
       * @example 12
       */
      likes: number;
      /**
       * @description Number of comments on the post, without deleted ones.
       * @example 3
       */
      comments: number;
      /**
       * Format: date-time
       * @description Time at which the post was published (UTC, with milliseconds).
       * @example 2026-11-21T09:30:00.000Z
       */
      publishedAt: string;
      /**
       * Format: uri
       * @description Public URL of the post.
       * @example https://dev.example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      permalink: string;
    };
    /** @description Author of a comment. */
    Author: {
      /**
       * @description Unique identifier of the user.
       * @example usr_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Display name, or an empty string if the user no longer exists.
       * @example Ben Okafor
       */
      name: string;
      /**
       * Format: uri
       * @description URL of the user's profile photo, or null.
       * @example https://example.com/photos/ben.jpg
       */
      avatar: string | null;
    };
    /** @description A comment on a post. */
    Comment: {
      /**
       * @description Unique identifier of the comment.
       * @example cmt_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Text of the comment, as it was sent.
       * @example Count me in!
       */
      text: string;
      /**
       * @description Identifier of the comment that this comment replies to, or null.
       * @example null
       */
      parentId: string | null;
      author: components['schemas']['Author'];
      /**
       * Format: date-time
       * @description Time at which the comment was created (UTC, with milliseconds).
       * @example 2026-11-21T09:30:00.000Z
       */
      createdAt: string;
      /**
       * Format: uri
       * @description Public URL of the post that the comment is on.
       * @example https://dev.example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      permalink: string;
    };
    /** @description A page of comments, newest first. */
    CommentPage: {
      /** @description The comments of the page, newest first. */
      data: components['schemas']['Comment'][];
      meta: components['schemas']['PageMeta'];
    };
    /** @description The comment to create. */
    CreateComment: {
      /**
       * @description Text of the comment. Not blank, without control characters other than tab, line feed and carriage return.
       * @example Count me in!
       */
      text: string;
      /**
       * @description Identifier of the comment to reply to, which must be on the same post. Null if the comment is not a reply.
       * @example null
       */
      parentId?: string | null;
    };
    /** @description The post to publish. At least one of title, content, images must be supplied; null and empty lists do not count. */
    CreatePost: {
      /**
       * @description Headline. One line, not blank, without control characters.
       * @example Block party on Saturday
       */
      title?: string | null;
      /**
       * @description Body text. Not blank, without control characters other than tab, line feed and carriage return.
       * @example Bring a chair and something to share.
       */
      content?: string | null;
      /**
       * @description Category, such as general, event, question, for_sale or lost_and_found. Defaults to general.
       * @example event
       */
      type?: string | null;
      /**
       * @description Image URLs, stored as sent. Each is an `http://` or `https://` URL that the URL Standard (https://url.spec.whatwg.org) parses, without user name, password, white space, control characters or backslashes. It has at most 2,048 characters, of which at most 1,000 are not ASCII.
       * @example [
       *       "https://example.com/party.jpg"
       *     ]
       */
      images?: string[] | null;
      /**
       * @description Topic tags, stored as sent. Each is one line, not blank, without control characters.
       * @example [
       *       "party",
       *       "Saturday"
       *     ]
       */
      tags?: string[] | null;
      /**
       * Format: double
       * @description Latitude of the post in degrees, sent together with longitude. If both are absent, the user's saved location is used.
       * @example 37.7749
       */
      latitude?: number | null;
      /**
       * Format: double
       * @description Longitude of the post in degrees, sent together with latitude.
       * @example -122.4194
       */
      longitude?: number | null;
      /**
       * Format: double
       * @description Reach of the post in kilometres.
       * @example 2.5
       */
      reachKm?: number | null;
      /**
       * @description Who can see the post. Defaults to public.
       * @example public
       * @enum {string|null}
       */
      visibility?: 'public' | 'neighborhood' | 'private' | null;
    };
    /** @description The published post: the fields of the request, and those that the server added. */
    CreatedPost: {
      /**
       * @description Unique identifier of the post.
       * @example post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Headline.
       * @example Block party on Saturday
       */
      title?: string;
      /**
       * @description Body text.
       * @example Bring a chair and something to share.
       */
      content?: string;
      /**
       * @description Category.
       * @example event
       */
      type?: string;
      /**
       * @description Image URLs.
       * @example [
       *       "https://example.com/party.jpg"
       *     ]
       */
      images?: string[];
      /**
       * @description Topic tags.
       * @example [
       *       "party",
       *       "Saturday"
       *     ]
       */
      tags?: string[];
      /**
       * Format: double
       * @description Latitude of the post.
       * @example 37.7749
       */
      latitude?: number;
      /**
       * Format: double
       * @description Longitude of the post.
       * @example -122.4194
       */
      longitude?: number;
      /**
       * Format: double
       * @description Reach of the post in kilometres.
       * @example 2.5
       */
      reachKm?: number;
      /**
       * @description Who can see the post: public, neighborhood or private. New values may be added.
       * @example public
       */
      visibility?: string;
      /**
       * Format: uri
       * @description Public URL of the post.
       * @example https://dev.example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      permalink: string;
      /**
       * Format: date-time
       * @description Time at which the post was published (UTC, with milliseconds).
       * @example 2026-11-21T09:30:00.000Z
       */
      createdAt: string;
    };
    /** @description The deleted object. */
    Deleted: {
      /**
       * @description Id of the post or comment.
       * @example post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Always true.
       * @example true
       * @enum {boolean}
       */
      deleted: true;
    };
    /** @description The body of every error response under /dev/v1. */
    Error: {
      /**
       * AnyErrorCode
       * @description Machine-readable error code. New codes may be added.
       * @example invalid_request
       */
      error: components['schemas']['ErrorCode'] | string;
      /**
       * @description What went wrong and what to do; human-readable.
       * @example 1 field is invalid: latitude.
       */
      error_description: string;
      /**
       * @description Id of this request, as in X-Request-Id. Include it when you contact support.
       * @example req_01kahq5f3veqdr8bn3tdmx3q0a
       */
      request_id: string;
      /** @description All violations, at most 20. */
      errors?: components['schemas']['FieldError'][];
      /**
       * Format: uri
       * @description Documentation of the error code.
       * @example https://dev.example.com/docs/errors#invalid_request
       */
      doc_url: string;
    };
    /**
     * @description Error codes of the endpoints under /dev/v1.
     * @enum {string}
     */
    ErrorCode:
      | 'invalid_request'
      | 'unauthorized'
      | 'invalid_token'
      | 'insufficient_scope'
      | 'not_found'
      | 'method_not_allowed'
      | 'request_timeout'
      | 'idempotency_key_in_use'
      | 'payload_too_large'
      | 'unsupported_media_type'
      | 'idempotency_key_reused'
      | 'quota_exceeded'
      | 'too_many_requests'
      | 'internal_error'
      | 'service_unavailable';
    /** @description A violation in the request. */
    FieldError: {
      /**
       * @description Name of the member, parameter or header; empty for the whole body.
       * @example latitude
       */
      field: string;
      /**
       * AnyFieldErrorCode
       * @description Stable code of the violation. Expect new values.
       * @example too_large
       */
      code: components['schemas']['FieldErrorCode'] | string;
      /**
       * @description Human-readable message.
       * @example latitude must be at most 90.
       */
      message: string;
    };
    /**
     * @description Error codes of fields.
     * @enum {string}
     */
    FieldErrorCode:
      | 'required'
      | 'wrong_type'
      | 'unknown_field'
      | 'too_small'
      | 'too_large'
      | 'too_short'
      | 'too_long'
      | 'too_many'
      | 'too_deep'
      | 'blank'
      | 'control_character'
      | 'not_well_formed'
      | 'invalid_format'
      | 'not_allowed_value'
      | 'pair_required'
      | 'one_of_required'
      | 'invalid_reference';
    /** @description Position of the page in the list. */
    PageMeta: {
      /**
       * @description The page, from 1.
       * @example 1
       */
      page: number;
      /**
       * @description Maximum number of items per page.
       * @example 20
       */
      limit: number;
      /**
       * @description Number of items in the whole list.
       * @example 42
       */
      total: number;
    };
    /** @description One of the user's posts. */
    Post: {
      /**
       * @description Unique identifier of the post.
       * @example post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Body text, or null.
       * @example Bring a chair and something to share.
       */
      content: string | null;
      /**
       * @description Topic tags, as sent.
       * @example [
       *       "party",
       *       "Saturday"
       *     ]
       */
      tags: string[];
      /**
       * Format: double
       * @description Reach of the post in kilometres, or null.
       * @example 2.5
       */
      reachKm: number | null;
      /**
       * @description Who can see the post: public, neighborhood or private. New values may be added.
       * @example public
       */
      visibility: string;
      /**
       * Format: uri
       * @description Public URL of the post.
       * @example https://dev.example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      permalink: string;
      /**
       * Format: date-time
       * @description Time at which the post was published (UTC, with milliseconds).
       * @example 2026-11-21T09:30:00.000Z
       */
      createdAt: string;
    };
    /** @description A post in a list. */
    PostItem: {
      /**
       * @description Unique identifier of the post.
       * @example post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Body text, or null.
       * @example Bring a chair and something to share.
       */
      content: string | null;
      /**
       * Format: uri
       * @description Public URL of the post.
       * @example https://dev.example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a
       */
      permalink: string;
      /**
       * Format: date-time
       * @description Time at which the post was published (UTC, with milliseconds).
       * @example 2026-11-21T09:30:00.000Z
       */
      createdAt: string;
    };
    /** @description A page of the user's posts, newest first. */
    PostPage: {
      /** @description The posts of the page, newest first. */
      data: components['schemas']['PostItem'][];
      meta: components['schemas']['PageMeta'];
    };
    /** @description The app's quota in the current calendar month. */
    Quota: {
      /**
       * @description Maximum number of posts per month, or null if unlimited.
       * @example 100
       */
      limit: number | null;
      /**
       * @description Number of posts published this month.
       * @example 13
       */
      used: number;
      /**
       * @description Number of posts left this month, or null if unlimited.
       * @example 87
       */
      remaining: number | null;
      /**
       * @description The calendar month, in UTC.
       * @example 2026-11
       */
      period: string;
      /**
       * Format: date-time
       * @description Time at which the quota resets (UTC, with milliseconds).
       * @example 2026-12-01T00:00:00.000Z
       */
      resetsAt: string;
    };
    /** @description A request that the app sent for the user. */
    Request: {
      /**
       * @description Id of the request, as in `X-Request-Id` and `request_id`.
       * @example req_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * Format: date-time
       * @description Time of the request, or of the post that it published (UTC, with milliseconds).
       * @example 2026-11-21T09:30:00.000Z
       */
      createdAt: string;
      /**
       * @description The method.
       * @example POST
       */
      method: string;
      /**
       * @description The pattern of the path, without the ids of the request.
       * @example /dev/v1/posts/:id/comments
       */
      route: string;
      /**
       * @description The HTTP status. 499: the connection closed before the response was sent.
       * @example 201
       */
      status: number;
      /**
       * @description The `error` of the response, or null.
       * @example null
       */
      errorCode: string | null;
      /**
       * @description Milliseconds from the request to its response.
       * @example 12
       */
      durationMs: number;
    };
    /** @description Requests, newest first. */
    RequestList: {
      /** @description The requests, newest first. */
      data: components['schemas']['Request'][];
      meta: components['schemas']['RequestListMeta'];
    };
    /** @description The part of the list. */
    RequestListMeta: {
      /**
       * @description Maximum number of requests.
       * @example 20
       */
      limit: number;
      /**
       * @description Whether there are older requests.
       * @example false
       */
      hasMore: boolean;
    };
    /** @description The user who authorized the app. */
    User: {
      /**
       * @description Unique identifier of the user.
       * @example usr_01kahq5f3veqdr8bn3tdmx3q0a
       */
      id: string;
      /**
       * @description Display name.
       * @example Ana Lee
       */
      name: string;
      /**
       * Format: uri
       * @description URL of the user's profile photo, or null.
       * @example https://example.com/photos/ana.jpg
       */
      photoUrl: string | null;
      /**
       * @description Reputation score in the network.
       * @example 128
       */
      karma: number;
      /**
       * @description The user's saved neighbourhood, or null.
       * @example Riverside
       */
      neighborhood: string | null;
    };
    /** @description A comment was added to one of the member's posts, by any app. Needs posts.read. */
    CommentCreatedEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'comment.created';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: {
        /** @description The member. */
        userId: string;
        /** @description The post. */
        postId: string;
        /** @description The comment; only its id if it was deleted before the event was sent. */
        comment:
          | components['schemas']['Comment']
          | {
              /** @description Identifier of the comment. */
              id: string;
            };
      };
    };
    /** @description A comment on one of the member's posts was deleted. Needs posts.read. */
    CommentDeletedEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'comment.deleted';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: {
        /** @description The member. */
        userId: string;
        /** @description The post. */
        postId: string;
        comment: {
          /** @description Identifier of the comment. */
          id: string;
        };
      };
    };
    /** @description A post that the app published was deleted by another app or the operator. */
    PostDeletedEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'post.deleted';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: {
        /** @description The member. */
        userId: string;
        post: {
          /** @description Identifier of the post. */
          id: string;
        };
        /** @description The reason of the operator, if it is public. */
        reason?: string;
      };
    };
    /** @description The member allows the app less than before, or one of several grants of the member ended. */
    GrantNarrowedEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'grant.narrowed';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: {
        /** @description The member. */
        userId: string;
        /** @description The scopes that remain. */
        scopes: ('profile.read' | 'posts.read' | 'posts.write' | 'analytics.read')[];
      };
    };
    /** @description The app has no access to the member any more. It is not sent if the app ended it, or if it expired. */
    GrantRevokedEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'grant.revoked';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: {
        /** @description The member. */
        userId: string;
        /** @description Empty: no scope remains. */
        scopes: ('profile.read' | 'posts.read' | 'posts.write' | 'analytics.read')[];
      };
    };
    /** @description The app has used 75, 90 or 100 percent of its posts of the month. Each is sent once a month. */
    QuotaThresholdEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'quota.threshold';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: {
        /** @description The UTC month, such as 2026-11. */
        month: string;
        /** @enum {integer} */
        percent: 75 | 90 | 100;
        /** @description Posts per month. */
        limit: number;
        /** @description Posts used so far. */
        used: number;
      };
    };
    /** @description The operator tests the endpoint. */
    WebhookTestEvent: {
      /** @description Identifier of the event, the same in each attempt and as webhook-id. */
      id: string;
      /** @constant */
      type: 'webhook.test';
      /**
       * Format: date-time
       * @description Time of the event (UTC). Attempts can be days later.
       * @example 2026-11-21T09:30:00.000Z
       */
      timestamp: string;
      data: Record<string, never>;
    };
    /** @description An event that the service sends to the app. */
    WebhookEvent:
      | components['schemas']['CommentCreatedEvent']
      | components['schemas']['CommentDeletedEvent']
      | components['schemas']['PostDeletedEvent']
      | components['schemas']['GrantNarrowedEvent']
      | components['schemas']['GrantRevokedEvent']
      | components['schemas']['QuotaThresholdEvent']
      | components['schemas']['WebhookTestEvent'];
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type Analytics = components['schemas']['Analytics'];
export type Author = components['schemas']['Author'];
export type Comment = components['schemas']['Comment'];
export type CommentPage = components['schemas']['CommentPage'];
export type CreateComment = components['schemas']['CreateComment'];
export type CreatePost = components['schemas']['CreatePost'];
export type CreatedPost = components['schemas']['CreatedPost'];
export type Deleted = components['schemas']['Deleted'];
export type Error = components['schemas']['Error'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type FieldError = components['schemas']['FieldError'];
export type FieldErrorCode = components['schemas']['FieldErrorCode'];
export type PageMeta = components['schemas']['PageMeta'];
export type Post = components['schemas']['Post'];
export type PostItem = components['schemas']['PostItem'];
export type PostPage = components['schemas']['PostPage'];
export type Quota = components['schemas']['Quota'];
export type Request = components['schemas']['Request'];
export type RequestList = components['schemas']['RequestList'];
export type RequestListMeta = components['schemas']['RequestListMeta'];
export type User = components['schemas']['User'];
export type CommentCreatedEvent = components['schemas']['CommentCreatedEvent'];
export type CommentDeletedEvent = components['schemas']['CommentDeletedEvent'];
export type PostDeletedEvent = components['schemas']['PostDeletedEvent'];
export type GrantNarrowedEvent = components['schemas']['GrantNarrowedEvent'];
export type GrantRevokedEvent = components['schemas']['GrantRevokedEvent'];
export type QuotaThresholdEvent = components['schemas']['QuotaThresholdEvent'];
export type WebhookTestEvent = components['schemas']['WebhookTestEvent'];
export type WebhookEvent = components['schemas']['WebhookEvent'];
export interface operations {
  deleteComment: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Identifier of a comment that the user wrote. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The deleted object. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "cmt_01kahq5f3veqdr8bn3tdmx3q0a",
           *       "deleted": true
           *     }
           */
          'application/json': components['schemas']['Deleted'];
        };
      };
    };
  };
  getMe: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The user who authorized the app. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['User'];
        };
      };
    };
  };
  listPosts: {
    parameters: {
      query?: {
        /** @description Page to read, from 1. While the list changes, pages read by their number may repeat or skip items; to read each item once, follow `next` of the `Link` header. With `before`, `page` does not select the page, and is only repeated in `meta.page`. */
        page?: number;
        /** @description Items per page. */
        limit?: number;
        /** @description Id of an item: the page starts with the item that follows it in the list, the next older one. To read the next page without the `Link` header, send the id of the last item of this page. The item with this id may have been deleted. An empty value counts as absent. */
        before?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of the user's posts, newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PostPage'];
        };
      };
    };
  };
  createPost: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreatePost'];
      };
    };
    responses: {
      /** @description The published post: the fields of the request, and those that the server added. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedPost'];
        };
      };
    };
  };
  getPost: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Identifier of one of the user's posts. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One of the user's posts. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Post'];
        };
      };
    };
  };
  deletePost: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Identifier of one of the user's posts. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The deleted object. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Deleted'];
        };
      };
    };
  };
  getPostAnalytics: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Identifier of one of the user's posts. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Engagement counts of a post. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Analytics'];
        };
      };
    };
  };
  listComments: {
    parameters: {
      query?: {
        /** @description Page to read, from 1. While the list changes, pages read by their number may repeat or skip items; to read each item once, follow `next` of the `Link` header. With `before`, `page` does not select the page, and is only repeated in `meta.page`. */
        page?: number;
        /** @description Items per page. */
        limit?: number;
        /** @description Id of an item: the page starts with the item that follows it in the list, the next older one. To read the next page without the `Link` header, send the id of the last item of this page. The item with this id may have been deleted. An empty value counts as absent. */
        before?: string;
      };
      header?: never;
      path: {
        /** @description Identifier of one of the user's posts. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of comments, newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CommentPage'];
        };
      };
    };
  };
  createComment: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Identifier of one of the user's posts. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateComment'];
      };
    };
    responses: {
      /** @description A comment on a post. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Comment'];
        };
      };
    };
  };
  getQuota: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The app's quota in the current calendar month. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Quota'];
        };
      };
    };
  };
  listRequests: {
    parameters: {
      query?: {
        /** @description Maximum number of requests. */
        limit?: number;
        /** @description Id of a request of the list: the result begins with the next older one. An empty value counts as absent. */
        before?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Requests, newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RequestList'];
        };
      };
    };
  };
  getRequest: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Id of a request of the app for the user. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A request that the app sent for the user. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Request'];
        };
      };
    };
  };
}
