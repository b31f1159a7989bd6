import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

describe('Installation', () => {
  // npm 10, the npm of Node 20, ignores `allowScripts`.
  it('sends no telemetry, also if npm runs the script of @scarf/scarf', async () => {
    let requests = 0;
    const collector = createServer((_request, response) => {
      requests += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    onTestFinished(() => void collector.close());
    const { port } = collector.address() as AddressInfo;
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      INIT_CWD: process.cwd(),
      SCARF_LOCAL_PORT: String(port),
    };
    await promisify(execFile)(process.execPath, ['node_modules/@scarf/scarf/report.js'], { env });
    expect(requests).toBe(0);
  });
});
