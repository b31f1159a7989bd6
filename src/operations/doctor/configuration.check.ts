import type { AppConfig } from '../../config/app-config.js';
import { ok, warning, type Check, type Finding } from './check.js';

/** What the configuration allows and a service for others should not have. */
export function configurationCheck(config: AppConfig): Check {
  return {
    name: 'configuration',
    run: async () => {
      const warnings = [...forDevelopment(config), ...whereverItRuns(config)];
      return warnings.length > 0 ? warnings : [ok('The configuration is valid.')];
    },
  };
}

/** Production refuses all of these. */
function forDevelopment({ production, secure, sms, demo, hasOwnPepper }: AppConfig): Finding[] {
  if (production) return [];
  const found = [warning('NODE_ENV is not production.', 'NODE_ENV=production')];
  if (!secure) found.push(warning('PUBLIC_URL is not https.', 'PUBLIC_URL=https://…'));
  if (sms.sender === 'console')
    found.push(warning('One-time passwords are printed to the log.', 'SMS_SENDER=webhook'));
  if (demo) found.push(warning('An empty database is filled with a demo.', 'DEMO=0'));
  if (!hasOwnPepper)
    found.push(
      warning(
        'One-time passwords are stored under a key that everybody knows.',
        'OTP_PEPPER="$(openssl rand -base64 48)"',
      ),
    );
  return found;
}

function whereverItRuns(config: AppConfig): Finding[] {
  const found: Finding[] = [];
  if (config.sms.sender === 'file')
    found.push(warning('One-time passwords are written to a file.', 'SMS_SENDER=webhook'));
  if (config.secure && config.server.trustProxy === 0)
    found.push(
      warning(
        'PUBLIC_URL is https, which a proxy in front must speak, but no proxy is trusted: all callers count as one address.',
        'TRUST_PROXY=1',
      ),
    );
  if (config.otp.phoneFailures === 0)
    found.push(
      warning('Nothing limits guesses at one-time passwords.', 'Unset OTP_PHONE_FAILURES.'),
    );
  return found;
}
