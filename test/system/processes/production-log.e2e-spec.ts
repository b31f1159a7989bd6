import { sqliteFile } from '../../support/database.js';
import { startProcess } from '../../support/service-process.js';

describe('Production log', () => {
  const { url } = sqliteFile();

  it('contains only JSON lines, including the start message', async () => {
    const service = await startProcess({
      url,
      env: {
        NODE_ENV: 'production',
        PUBLIC_URL: 'https://api.example',
        OTP_PEPPER: 'a pepper of at least 32 characters',
        SHUTDOWN_DELAY_MS: '0',
        MIGRATE: '1',
        SMS_SENDER: 'webhook',
        SMS_WEBHOOK_URL: 'https://sms.example',
        SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
      },
    });
    await fetch(`${service.baseUrl}/dev/v1/me`);
    expect(await service.stop()).toBe(0);
    const lines = service.output().trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries).toContainEqual(
      expect.objectContaining({ context: 'Start', msg: 'Serving https://api.example' }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ route: '/dev/v1/me', status: 401 }));
  });
});
