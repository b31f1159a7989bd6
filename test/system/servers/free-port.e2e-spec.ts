import { freePort } from '../../support/free-port.js';

const ASKED = 300;

describe('A free port', () => {
  it('is given to one only, of many who ask before they listen', async () => {
    const ports = await Promise.all(Array.from({ length: ASKED }, freePort));
    expect(new Set(ports).size).toBe(ASKED);
  });
});
