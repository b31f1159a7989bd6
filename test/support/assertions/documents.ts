import type { Topic } from './topic.js';

export const DOCUMENTS: Topic = {
  title: 'Documents and pages',
  rules: {
    C117: {
      rule: 'A GET whose `If-None-Match` names the `ETag` of the answer is 304.',
      source: 'RFC 9110 §13.1.2',
    },
    C139: {
      rule: '`/openapi.json` is a valid OpenAPI document without a finding of its linter and equals the committed file. Every operation has all of its statuses, with examples that fit their schemas.',
      source: 'OpenAPI 3.1',
    },
    C140: {
      rule: 'Every answer of the whole test run fits the published document: its status, its headers and its body.',
      source: 'own',
    },
    C141: {
      rule: 'Of requests that are made up from the published document, valid ones are never 400, invalid ones never succeed, and none makes the service fail.',
      source: 'own',
    },
    C142: {
      rule: 'In Chromium, a developer signs in from the API documentation, allows it, and tries GET `/me`: 200, without a breach of the content security policy.',
      source: 'own',
    },
    C143: {
      rule: 'The pages of sign-in, one-time password, consent and connected apps work without JavaScript, by keyboard alone, 320 pixels wide, at 400 % and in forced colours, and axe finds nothing.',
      source: 'WCAG 2.2',
    },
    C144: {
      rule: 'The types that are generated from the published document compile, and a client made of them runs against the service.',
      source: 'own',
    },
    C145: {
      rule: '`/livez` is 200 without a database. `/readyz` is 503 while the database is away or too slow, migrations are pending, the clock is off or the service is shutting down. Metrics are on the port of the operator only.',
      source: 'own',
    },
  },
};
