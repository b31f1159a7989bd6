import { sqliteFile } from '../../support/database.js';
import { warningsAndErrors, logLines } from '../../support/logs.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

describe('The log of a service that refuses', () => {
  const database = sqliteFile();
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess({ url: database.url, env: { LOG_LEVEL: 'log' } });
  });
  afterAll(async () => {
    await service?.stop();
  });

  it.each([
    ['GET', '/dev/v1/me', '/dev/v1/me', 401, 'unauthorized'],
    ['GET', '/dev/v1/nope', 'unrouted', 404, 'not_found'],
    ['PUT', '/dev/v1/me', 'unrouted', 405, 'method_not_allowed'],
    ['GET', '/dev/v1/posts/%E0%A4%A', 'unrouted', 400, 'invalid_request'],
  ])('C26 %s %s is in it once, by the id that its answer tells: %s, %i %s', async (...refusal) => {
    const [method, path, route, status, error] = refusal;
    const id = `find-me-${status}-${error}`;
    const answer = await fetch(`${service.baseUrl}${path}`, {
      method,
      headers: { 'x-request-id': id },
    });
    expect(await answer.json()).toMatchObject({ request_id: id });
    const told = () => logLines(service.output()).filter(({ request_id }) => request_id === id);
    await expect.poll(told).toHaveLength(1);
    expect(told()).toMatchObject([{ level: 'info', msg: 'request', method, route, status, error }]);
    expect(service.output().split(id)).toHaveLength(2);
    expect(warningsAndErrors(service.output())).toEqual([]);
  });
});
