import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';

/** What this process counts, by the naming rules of Prometheus. Counters start at zero with the process. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  /** One-time passwords that no try brought to the gateway. */
  readonly otpSendFailures = new Counter({
    name: 'otp_send_failures_total',
    help: 'One-time passwords that could not be sent, after all tries.',
    registers: [this.registry],
  });
}
