import { startProcess, type AppProcess } from '../../support/app-process.js';
import { sqliteFile } from '../../support/engines.js';

describe('The log of a service that refuses', () => {
  const database = sqliteFile();
  let service: AppProcess;
  beforeAll(async () => {
    service = await startProcess({ url: database.url, env: { LOG_LEVEL: 'log' } });
  });
  afterAll(async () => {
    await service?.stop();
  });

  it.each([
    ['GET', '/dev/v1/me', '401 unauthorized'],
    ['GET', '/dev/v1/nope', '404 not_found'],
    ['PUT', '/dev/v1/me', '405 method_not_allowed'],
    ['GET', '/dev/v1/posts/%E0%A4%A', '400 invalid_request'],
  ])('C26 %s %s is in it once, by the id that its answer tells: %s', async (method, path, told) => {
    const id = `find-me-${told.replace(' ', '-')}`;
    const answer = await fetch(`${service.baseUrl}${path}`, {
      method,
      headers: { 'x-request-id': id },
    });
    expect(await answer.json()).toMatchObject({ request_id: id });
    await expect.poll(() => service.output()).toContain(`${id} ${told}`);
    expect(service.output().split(id)).toHaveLength(2);
    expect(service.output()).not.toMatch(/ERROR/);
  });
});
