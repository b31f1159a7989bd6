import type { Body } from './api-call.js';

/** The error code of a value, or null. */
type Rule = (value: unknown) => string | null;

const text =
  (max: number): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'wrong_type';
    if (value.trim() === '') return 'blank';
    return Array.from(value).length > max ? 'too_long' : null;
  };

const number =
  (min: number, max: number): Rule =>
  (value) => {
    if (typeof value !== 'number') return 'wrong_type';
    if (value < min) return 'too_small';
    return value > max ? 'too_large' : null;
  };

const list =
  (maxItems: number, item: Rule): Rule =>
  (value) => {
    if (!Array.isArray(value) || value.some((each) => typeof each !== 'string'))
      return 'wrong_type';
    if (value.length > maxItems) return 'too_many';
    return value.map(item).find((code) => code !== null) ?? null;
  };

const format =
  (pattern: RegExp, code: string): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'wrong_type';
    return pattern.test(value) ? null : code;
  };

const POST: Readonly<Record<string, Rule>> = {
  title: text(300),
  content: text(10_000),
  type: format(/^[a-z][a-z0-9_-]{0,31}$/, 'invalid_format'),
  images: list(10, format(/^https?:\/\/[^\s@]+$/, 'invalid_format')),
  tags: list(20, text(50)),
  latitude: number(-90, 90),
  longitude: number(-180, 180),
  reachKm: number(0.001, 100),
  visibility: format(/^(public|neighborhood|private)$/, 'not_allowed_value'),
};

const COMMENT: Readonly<Record<string, Rule>> = {
  text: text(2000),
  parentId: (value) => (typeof value === 'string' ? null : 'wrong_type'),
};

/** The members without nulls: null is the same as a missing member. */
export function sentOf(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Field errors of the body of a post, each `field code`. */
export function postProblems(body: Body): string[] {
  const sent = sentOf(body);
  const problems = fieldProblems(body, POST);
  if ('latitude' in sent !== 'longitude' in sent)
    problems.push(`${'latitude' in sent ? 'longitude' : 'latitude'} pair_required`);
  const isEmpty = Array.isArray(sent['images']) && sent['images'].length === 0;
  if (!('title' in sent) && !('content' in sent) && (!('images' in sent) || isEmpty))
    problems.push('one_of_required');
  return problems;
}

/** Field errors of the body of a comment. */
export function commentProblems(body: Body): string[] {
  const problems = fieldProblems(body, COMMENT);
  return 'text' in sentOf(body) ? problems : ['text required', ...problems];
}

/** Field errors of an `Idempotency-Key`. */
export function keyProblems(key: string | undefined): string[] {
  if (key === undefined || /^[!-~]{1,255}$/.test(key)) return [];
  return ['Idempotency-Key invalid_format'];
}

function fieldProblems(body: Body, rules: Readonly<Record<string, Rule>>): string[] {
  const unknown = Object.keys(body).filter((name) => !(name in rules));
  const broken = Object.entries(sentOf(body)).flatMap(([name, value]) => {
    const code = rules[name]?.(value) ?? null;
    return code === null ? [] : [`${name} ${code}`];
  });
  return [...broken, ...unknown.map((name) => `${name} unknown_field`)];
}
