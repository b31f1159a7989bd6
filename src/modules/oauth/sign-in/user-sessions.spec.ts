import { addMilliseconds, HOUR, MINUTE } from '../../../platform/clock.js';
import { extensionOf } from './user-sessions.service.js';

const createdAt = new Date('2026-11-26T08:00:00Z');
const after = (milliseconds: number): Date => addMilliseconds(createdAt, milliseconds);

describe('Last extension of a session', () => {
  it('is the last use', () => {
    expect(extensionOf({ createdAt, expiresAt: after(90 * MINUTE) }, HOUR)).toEqual(
      after(30 * MINUTE),
    );
  });

  it('is null without a use', () => {
    expect(extensionOf({ createdAt, expiresAt: after(HOUR) }, HOUR)).toBeNull();
  });

  it('is null once the session has its maximum lifetime', () => {
    expect(extensionOf({ createdAt, expiresAt: after(12 * HOUR) }, HOUR)).toBeNull();
  });
});
