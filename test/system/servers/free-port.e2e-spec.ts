import { freePort } from '../../support/free-port.js';

const REQUESTS = 300;

describe('Free ports', () => {
  it('are unique among concurrent requests', async () => {
    const ports = await Promise.all(Array.from({ length: REQUESTS }, freePort));
    expect(new Set(ports).size).toBe(REQUESTS);
  });
});
