import {
  EnumField,
  NumberField,
  PatternField,
  TextField,
  TextListField,
  UrlListField,
  RequestSchema,
} from '../../platform/http/validation/fields.js';
import { VISIBILITIES, type Visibility } from './post.entities.js';

/** The fields of the request that are present and not null (product requirements, section 2). */
export type PostDraft = {
  [K in keyof Omit<CreatePostRequest, 'toDraft'>]: NonNullable<CreatePostRequest[K]>;
};

@RequestSchema({
  name: 'CreatePost',
  description: 'The post to publish.',
  atLeastOneOf: ['title', 'content', 'images'],
})
export class CreatePostRequest {
  @TextField({
    max: 300,
    singleLine: true,
    description: 'Headline. One line, not blank, without control characters.',
    example: 'Block party on Saturday',
  })
  title?: string | null;

  @TextField({
    max: 10_000,
    description:
      'Body text. Not blank, without control characters other than tab, line feed and carriage return.',
    example: 'Bring a chair and something to share.',
  })
  content?: string | null;

  @PatternField({
    pattern: /^[a-z][a-z0-9_-]{0,31}$/,
    requirement:
      'must be 1 to 32 lower-case letters, digits, hyphens or underscores, and start with a letter',
    description:
      'Category, such as general, event, question, for_sale or lost_and_found. Defaults to general.',
    example: 'event',
  })
  type?: string | null;

  @UrlListField({
    maxItems: 10,
    max: 2048,
    description:
      'Image URLs, stored as sent. Each is an `http://` or `https://` URL that the URL Standard (https://url.spec.whatwg.org) parses, without user name, password, white space, control characters or backslashes. It has at most 2,048 characters, of which at most 1,000 are not ASCII.',
    example: ['https://example.com/party.jpg'],
  })
  images?: string[] | null;

  @TextListField({
    maxItems: 20,
    max: 50,
    description:
      'Topic tags, stored as sent. Each is one line, not blank, without control characters.',
    example: ['party', 'Saturday'],
  })
  tags?: string[] | null;

  @NumberField({
    min: -90,
    max: 90,
    pairedWith: 'longitude',
    description:
      "Latitude of the post in degrees, sent together with longitude. If both are absent, the user's saved location is used.",
    example: 37.7749,
  })
  latitude?: number | null;

  @NumberField({
    min: -180,
    max: 180,
    pairedWith: 'latitude',
    description: 'Longitude of the post in degrees, sent together with latitude.',
    example: -122.4194,
  })
  longitude?: number | null;

  @NumberField({
    min: 0.001,
    max: 100,
    description: 'Reach of the post in kilometres.',
    example: 2.5,
  })
  reachKm?: number | null;

  @EnumField({
    values: VISIBILITIES,
    description: 'Who can see the post. Defaults to public.',
    example: 'public',
  })
  visibility?: Visibility | null;

  toDraft(): PostDraft {
    return Object.fromEntries(
      Object.entries(this).filter(([, value]) => value !== null && value !== undefined),
    );
  }
}
