import { SCOPES } from '../../../common/scopes.js';
import { newSecret } from '../../../common/secrets.js';
import { openAnswer, sealAnswer } from './sealed-answer.js';

const TOKEN = newSecret('svcrt');
const ANSWER = {
  accessToken: newSecret('svcat'),
  refreshToken: newSecret('svcrt'),
  expiresAt: new Date('2026-11-21T10:30:00.123Z'),
  scopes: SCOPES,
};

describe('A sealed answer', () => {
  it('opens with the token that it was sealed for', () => {
    expect(openAnswer(TOKEN, sealAnswer(TOKEN, ANSWER))).toEqual(ANSWER);
  });

  it('stays shut for every other token', () => {
    const sealed = sealAnswer(TOKEN, ANSWER);
    for (const other of [newSecret('svcrt'), TOKEN.toLowerCase(), TOKEN.slice(0, -1), ''])
      expect(openAnswer(other, sealed)).toBeNull();
  });

  it('stays shut when any byte of it was changed', () => {
    const sealed = Buffer.from(sealAnswer(TOKEN, ANSWER), 'base64url');
    for (const [place, byte] of sealed.entries()) {
      const changed = Buffer.from(sealed);
      changed[place] = byte ^ 1;
      expect(openAnswer(TOKEN, changed.toString('base64url')), `byte ${place}`).toBeNull();
    }
  });

  it('stays shut when it was cut', () => {
    const sealed = sealAnswer(TOKEN, ANSWER);
    for (let length = 0; length < sealed.length; length += 1)
      expect(openAnswer(TOKEN, sealed.slice(0, length)), `${length} characters`).toBeNull();
  });

  it('fits its column, tells nothing and never comes out the same twice', () => {
    const one = sealAnswer(TOKEN, ANSWER);
    expect(one).toMatch(/^[A-Za-z0-9_-]{1,700}$/);
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toMatch(/svcat|svcrt|posts/);
    expect(sealAnswer(TOKEN, ANSWER).slice(0, 16)).not.toBe(one.slice(0, 16));
  });
});
