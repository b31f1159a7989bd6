import { freePort } from './free-port.js';
import type { TestDatabase } from './database.js';
import { type ServiceProcess, startProcess } from './service-process.js';

/** A process of the service that keeps its port across restarts. */
export class RestartableProcess {
  private constructor(
    private readonly env: Record<string, string>,
    private readonly url: string,
    private process: ServiceProcess,
  ) {}

  static async start({ url }: Pick<TestDatabase, 'url'>): Promise<RestartableProcess> {
    const port = String(await freePort());
    const env = { PORT: port, MIGRATE: '0', DEMO: '0', QUOTA_DEFAULT_LIMIT: '1000000' };
    return new RestartableProcess(env, url, await startProcess({ url, env }));
  }

  get baseUrl(): string {
    return this.process.baseUrl;
  }

  async killAndRestart(): Promise<void> {
    await this.process.kill();
    this.process = await startProcess({ url: this.url, env: this.env });
  }

  async stop(): Promise<void> {
    await this.process.stop();
  }
}
