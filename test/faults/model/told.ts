import type { Scope } from '../../../src/common/scopes.js';
import type { Told } from './api-call.js';

export function ok(body: Told['body']): Told {
  return { status: 200, body };
}

export function refused(status: number, error: string): Told {
  return { status, error };
}

/** @param problems each `field code` */
export function invalid(problems: readonly string[]): Told {
  return { ...refused(400, 'invalid_request'), problems: problems.toSorted() };
}

export function lacking(scope: Scope): Told {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return withHeaders(refused(403, 'insufficient_scope'), { 'www-authenticate': challenge });
}

export function withHeaders(told: Told, headers: Record<string, string>): Told {
  const all = { ...told.headers, ...headers };
  return Object.keys(all).length > 0 ? { ...told, headers: all } : told;
}
