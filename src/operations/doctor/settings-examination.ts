import type { AppConfig } from '../../config/app-config.js';
import { ConfigError } from '../../config/load-config.js';
import { configurationCheck } from './configuration.check.js';
import { failed } from './check.js';
import { examine, sentenceOf, type Manner, type NamedFinding } from './examination.js';
import { metricsPortCheck } from './metrics-port.check.js';
import { smsGatewayCheck } from './sms-gateway.check.js';
import { storageChecks } from './storage.check.js';

/** Examines what needs no more than the configuration. */
export function examineSettings(config: AppConfig, manner: Manner): Promise<NamedFinding[]> {
  const checks = [
    configurationCheck(config),
    ...storageChecks(config),
    smsGatewayCheck(config),
    metricsPortCheck(config),
  ];
  return examine(checks, manner);
}

/** What is wrong with a configuration that cannot be read. */
export function configurationFindings({ problems }: ConfigError): NamedFinding[] {
  return problems.map((problem) => ({
    check: 'configuration',
    ...failed(`${problem}.`, 'Correct the variable: .env.example tells what it takes.'),
  }));
}

/** Why the application does not start, as when its database is away: then nothing else can be examined. */
export function startFinding(error: unknown): NamedFinding {
  const remedy = 'Look at DATABASE_URL, and whether that database runs and lets this machine in.';
  return { check: 'database', ...failed(sentenceOf(error), remedy) };
}
