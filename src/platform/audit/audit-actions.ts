/* Commands import this file before the application starts, so it must not import TypeORM. */

/** Every action of an audit event. */
export const AUDIT_ACTIONS = [
  'app.created',
  'app.disabled',
  'app.enabled',
  'app.secret_added',
  'app.secret_exposed',
  'app.secret_retired',
  'app.secret_revoked',
  'app.updated',
  // Only in events of 1.0.0.
  'authorization.challenge_reused',
  'authorization.denied',
  'code.replayed',
  'counters.fixed',
  'db.migrated',
  'db.reverted',
  'grant.created',
  'grant.reduced',
  'grant.revoked',
  'job.run',
  'oauth.throttled',
  'otp.daily_total_reached',
  'otp.device_distrusted',
  'otp.locked',
  'otp.send_failed',
  'post.restored',
  'quota.reconciled',
  'quota.set',
  'refresh_token.reused',
  'token.foreign',
  'token.issued',
  'token.refreshed',
  'token.replayed',
  'token.revoked',
  'user.added',
  'user.blocked',
  'user.erased',
  // Only in events of 1.0.0.
  'user.imported',
  'user.signed_out',
  'user.unblocked',
  'user.unlocked',
  'user.updated',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];
