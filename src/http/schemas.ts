/** A time as every answer has it: ISO 8601, UTC, with milliseconds (source document, section 2). */
export const TIME = {
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  example: '2026-11-21T09:30:00.000Z',
};

/** How long to wait (RFC 9110 §10.2.3), as the headers of a documented answer. */
export const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait.',
    required: true,
    schema: { type: 'integer' as const, minimum: 1, example: 5 },
  },
};
