/** For dates, numbers and durations (BCP 47). */
export const LOCALE = 'en-GB';
