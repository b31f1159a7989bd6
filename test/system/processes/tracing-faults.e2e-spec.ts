import { sqliteFile } from '../../support/database.js';
import { requestLines, warningsAndErrors } from '../../support/logs.js';
import { CALLER, TRACEPARENT } from '../../support/otlp.js';
import { RecordingServer } from '../../support/recording-server.js';
import {
  PRINT_PACKAGES,
  type ServiceProcess,
  startProcess,
} from '../../support/service-process.js';

describe('Tracing', () => {
  const { url } = sqliteFile();
  /** Less than the default time limit of an export, 10 seconds. */
  const MAX_STOP_MS = 8000;
  const EXPORT_TIMEOUT_MS = 2000;

  const start = (env: Record<string, string>): Promise<ServiceProcess> =>
    startProcess({
      url,
      env: { DEMO: '0', OTEL_BSP_SCHEDULE_DELAY: '50', ...env },
      nodeOptions: ['--import', PRINT_PACKAGES],
    });

  it('loads no package of OpenTelemetry unless OTEL_EXPORTER_OTLP_ENDPOINT is set', async () => {
    const off = await start({ OTEL_SERVICE_NAME: 'garden' });
    await fetch(`${off.baseUrl}/dev/v1/me`, { headers: { traceparent: TRACEPARENT } });
    expect(await off.stop()).toBe(0);
    expect(off.output()).toContain('loaded: [');
    expect(off.output()).not.toContain('@opentelemetry');
    expect(requestLines(off.output())).toMatchObject([{ route: '/dev/v1/me' }]);
    expect(off.output()).not.toContain('trace_id');

    const on = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    await on.stop();
    expect(on.output()).toMatch(/loaded: .*@opentelemetry\/instrumentation-http/);
  });

  it.each(['refuses connections', 'does not respond'])(
    'neither delays requests nor the shutdown if the collector %s, and warns at most once',
    async (fault) => {
      const collector = await RecordingServer.open({ respond: () => undefined });
      if (fault === 'refuses connections') await collector.close();
      const service = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_TIMEOUT: String(EXPORT_TIMEOUT_MS),
      });
      for (let round = 0; round < 5; round += 1) {
        const started = performance.now();
        const response = await fetch(`${service.baseUrl}/dev/v1/me`);
        expect(response.status).toBe(401);
        expect(performance.now() - started).toBeLessThan(EXPORT_TIMEOUT_MS);
        await new Promise((resolve) => {
          setTimeout(resolve, 300);
        });
      }
      await expect
        .poll(() => warningsAndErrors(service.output()), { timeout: 10_000 })
        .toMatchObject([
          { level: 'warn', context: 'Tracing', msg: expect.stringContaining(collector.url) },
        ]);
      // The export belongs to no request, although a request started its timer.
      const [warning] = warningsAndErrors(service.output());
      expect(Object.keys(warning ?? {})).not.toContain('request_id');
      expect(Object.keys(warning ?? {})).not.toContain('trace_id');
      await fetch(`${service.baseUrl}/dev/v1/me`);
      const stopped = performance.now();
      expect(await service.stop()).toBe(0);
      expect(performance.now() - stopped).toBeLessThan(MAX_STOP_MS);
      expect(warningsAndErrors(service.output())).toHaveLength(1);
      if (fault === 'does not respond') await collector.close();
    },
  );

  it('ends within the grace time if the collector does not respond', async () => {
    const collector = await RecordingServer.open({ respond: () => undefined });
    const service = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await fetch(`${service.baseUrl}/dev/v1/me`);
    const stopped = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - stopped).toBeLessThan(MAX_STOP_MS);
    await collector.close();
  });

  it('warns about an unknown sampler, and traces all requests', async () => {
    const collector = await RecordingServer.open();
    const service = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'often',
    });
    await fetch(`${service.baseUrl}/dev/v1/me`);
    await expect.poll(() => collector.requests).toHaveLength(1);
    expect(await service.stop()).toBe(0);
    expect(warningsAndErrors(service.output())).toMatchObject([
      { level: 'warn', context: 'Tracing', msg: expect.stringContaining('"often"') },
    ]);
    await collector.close();
  });

  it('does not send spans of callers that do not sample (OTEL_TRACES_SAMPLER)', async () => {
    const collector = await RecordingServer.open();
    const service = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await fetch(`${service.baseUrl}/dev/v1/me`, {
      headers: { traceparent: TRACEPARENT.replace(/01$/, '00') },
    });
    expect(await service.stop()).toBe(0);
    expect(requestLines(service.output())).toMatchObject([{ trace_id: CALLER.traceId }]);
    expect(collector.requests).toEqual([]);
    await collector.close();
  });
});
