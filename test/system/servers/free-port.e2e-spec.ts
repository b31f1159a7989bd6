import { freePort } from '../../support/free-port.js';

const CALLS = 300;

describe('Free ports', () => {
  it('are unique among concurrent calls', async () => {
    const ports = await Promise.all(Array.from({ length: CALLS }, freePort));
    expect(new Set(ports).size).toBe(CALLS);
  });
});
