import { z } from 'zod';
import { count, seconds } from './values.js';

/** One-time passwords. */
export const signIn = {
  OTP_PEPPER: z
    .string()
    .min(32)
    .optional()
    .describe(
      'Key under which one-time passwords are stored, at least 32 characters. Required in production; elsewhere a fixed key for development by default.',
    ),
  OTP_DEFAULT_COUNTRY: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a two-letter country code such as US')
    .optional()
    .describe('Country of phone numbers typed without a leading +, as two letters.'),
  OTP_COUNTRIES: z
    .string()
    .regex(/^[A-Z]{2}(,[A-Z]{2})*$/, 'must be two-letter country codes such as US,CA')
    .optional()
    .describe('Countries to whose numbers messages are sent, such as US,CA; all by default.'),
  OTP_SECONDS: seconds.default(300).describe('Lifetime of a one-time password.'),
  OTP_PHONE_FAILURES: count.default(10).describe('Wrong one-time passwords per phone.'),
  OTP_RESEND_SECONDS: count.default(60).describe('Time between two messages to one phone.'),
  OTP_PHONE_HOURLY: count.default(5).describe('Messages to one phone per hour.'),
  OTP_PHONE_DAILY: count.default(10).describe('Messages to one phone per day.'),
  OTP_ADDRESS_HOURLY: count.default(20).describe('Messages asked for from one address per hour.'),
  OTP_DAILY_TOTAL: count
    .default(10_000)
    .describe('Messages to all phones together per day; reaching it is logged as an error.'),
};
