import type { Topic } from './topic.js';

export const BODIES: Topic = {
  title: 'Bodies and JSON',
  rules: {
    C45: {
      rule: 'An empty body, or none, is 400 `invalid_request`.',
      source: 'RFC 8259 §2',
    },
    C46: {
      rule: 'Broken JSON is 400 `invalid_request`, be it cut short, followed by something or with `NaN` in it. Nothing of what was sent comes back.',
      source: 'RFC 8259 §2, §6',
    },
    C47: {
      rule: 'JSON that is no object, such as `null`, a string, a number or an array, is 400 `invalid_request`.',
      source: 'source document, section 4',
    },
    C48: {
      rule: 'Any other `Content-Type` than `application/json`, or none, is 415 `unsupported_media_type`, with a body or without.',
      source: 'source document, section 4; RFC 9110 §15.5.16',
    },
    C49: {
      rule: 'So is a form, whatever its fields are called: nothing is published.',
      source: 'source document, section 4',
    },
    C50: {
      rule: 'The charset is UTF-8, in any letter case and in quotes or not. Another one is 415.',
      source: 'RFC 8259 §8.1, §11',
    },
    C51: {
      rule: 'Other types made of JSON, such as `application/vnd.api+json`, are 415.',
      source: 'source document, section 4',
    },
    C52: {
      rule: 'A byte order mark before the JSON is ignored.',
      source: 'RFC 8259 §8.1',
    },
    C53: {
      rule: 'Bytes that are not UTF-8 are 400 with `not_well_formed`, and are never replaced by others.',
      source: 'RFC 3629 §3',
    },
    C54: {
      rule: 'Bodies in gzip, br or deflate are read. Another `Content-Encoding` is 415, and what inflates to a gigabyte is 413 before it is inflated.',
      source: 'RFC 9110 §8.4',
    },
    C55: {
      rule: 'A body may have 262,144 bytes, after decompression. One byte more is 413 `payload_too_large`.',
      source: 'RFC 9110 §15.5.14',
    },
    C56: {
      rule: 'A body may be nested 20 levels deep, itself included. Deeper ones are 400 with `too_deep`, 50,000 levels within 50 milliseconds.',
      source: 'RFC 8259 §9',
    },
    C57: {
      rule: 'At most 20 violations are listed. A body full of unknown fields is refused as fast as any, and one of 100,000 fields is too large.',
      source: 'own',
    },
    C58: {
      rule: 'Of two members with the same name the last counts.',
      source: 'RFC 8259 §4',
    },
    C59: {
      rule: 'Members named `__proto__`, `constructor`, `prototype` or like anything else that every object inherits are 400 with `unknown_field`, also inside of a field, and change nothing.',
      source: 'own',
    },
    C60: {
      rule: 'What the service sets itself, such as `id`, `createdAt` or `permalink`, is 400 with `unknown_field` for each that was sent.',
      source: 'source document, section 2',
    },
    C61: {
      rule: 'An unknown field is 400 with `unknown_field`, so that a misspelt `latitude` is not published at the wrong place. The message asks whether the nearest field was meant, and lists all.',
      source: 'own',
    },
  },
};

export const FIELDS: Topic = {
  title: 'Fields of posts and comments',
  rules: {
    C62: {
      rule: 'Nothing is converted: a number, a boolean, an object or an array in the place of a text is 400 with `wrong_type`. `null` is the same as leaving the field out.',
      source: 'source document, section 2',
    },
    C63: {
      rule: 'A post without title, content and images is 400 with `one_of_required`, also when the list of images is empty. A text of which nothing is visible is `blank`.',
      source: 'source document, section 2',
    },
    C64: {
      rule: 'A title alone is a post, as are content alone and images alone.',
      source: 'source document, section 2',
    },
    C65: {
      rule: 'Content has 1 to 10,000 characters. The unit of this and of every other length of a text is the Unicode code point: 10,000 emoji fit, and variation selectors count.',
      source: 'own',
    },
    C66: {
      rule: 'Texts come back byte for byte, in any script, with joined emoji, flags and any number of combining marks. Nothing is normalized.',
      source: 'own',
    },
    C67: {
      rule: 'A text with half of a surrogate pair is 400 with `not_well_formed`.',
      source: 'RFC 8259 §8.2',
    },
    C68: {
      rule: 'Control characters are 400 with `control_character`. Tabs and line breaks of any kind may stand in content and comments, and stay as they are.',
      source: 'own',
    },
    C69: {
      rule: 'Markup, templates, SQL, paths and formulas are texts like any other: they come back as they were sent, and are escaped on our pages.',
      source: 'own',
    },
    C70: {
      rule: 'A title has 1 to 300 characters on one line.',
      source: 'own',
    },
    C71: {
      rule: 'A post has up to 20 tags of 1 to 50 characters on one line, none of them blank. They are kept as they were sent, with their letter case and repeats.',
      source: 'own',
    },
    C72: {
      rule: 'A post has up to 10 images, each an absolute `http` or `https` URL of at most 2,048 bytes without user name, password or spaces. They are kept as they were sent and never fetched, wherever they lead.',
      source: 'RFC 3986 §3',
    },
    C73: {
      rule: 'Latitudes go from -90 to 90 and longitudes from -180 to 180. A number beyond, be it `1e400`, is `too_large` or `too_small`; a number in quotes is `wrong_type`.',
      source: 'own',
    },
    C74: {
      rule: 'Latitude without longitude, or the reverse, is 400 with `pair_required` for the one that is missing.',
      source: 'own',
    },
    C75: {
      rule: 'Numbers come back equal to the last digit.',
      source: 'source document, section 4.2',
    },
    C76: {
      rule: '`reachKm` goes from 0.001 to 100.',
      source: 'own',
    },
    C77: {
      rule: '`visibility` is `public`, `neighborhood` or `private`, letter by letter; anything else is `not_allowed_value`, and the message lists the three. `type` is 1 to 32 lower-case letters, digits, hyphens and underscores, and starts with a letter; anything else is `invalid_format`.',
      source: 'own',
    },
    C78: {
      rule: 'A new post is 201 with exactly the fields that were sent plus `id`, `permalink` and `createdAt`. GET of its `Location` finds it.',
      source: 'source document, section 4.2; RFC 9110 §15.3.2',
    },
    C79: {
      rule: 'Times are UTC with three digits of milliseconds and a `Z`, also when those are zero, and wherever the service and its database think they are.',
      source: 'source document, section 2',
    },
    C80: {
      rule: 'The text of a comment is required and has 1 to 2,000 characters, not blank.',
      source: 'source document, section 8',
    },
    C81: {
      rule: '`parentId` is null, absent, or the id of a comment on the same post. A comment that does not exist, was deleted or is on another post is 400 with `invalid_reference`, as is what could not be an id. Replies of a deleted comment stay.',
      source: 'source document, section 4.2',
    },
    C82: {
      rule: 'A comment on a post that was deleted, is of another user or never existed is 404 `not_found`.',
      source: 'source document, section 4.2',
    },
    C83: {
      rule: 'A reply can be replied to, 50 times over.',
      source: 'source document, section 2',
    },
    C84: {
      rule: 'A body on GET or DELETE, even a malformed one, changes nothing about the answer.',
      source: 'RFC 9110 §9.3.1, §9.3.5',
    },
  },
};
