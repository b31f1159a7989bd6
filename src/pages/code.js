import './submit-once.js';

/*
 * Counts down to the time of the next request for a code, and disables the button until then. Without this script, the page shows the
 * time as of when it was opened, and the server rejects an early request.
 */
const wait = document.querySelector('[data-seconds]');
const button = document.querySelector('button[name="again"]');

const UNITS = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** Like `formatDuration` of the server: in the largest unit with a value of at least 2, rounded up. */
function format(seconds) {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? UNITS.at(-1);
  const options = { style: 'unit', unit, unitDisplay: 'long' };
  return new Intl.NumberFormat(document.documentElement.lang, options).format(
    Math.ceil(seconds / size),
  );
}

/*
 * Fills in the code of the text message (WebOTP): the browser asks the user, and hands over the code of a message whose last line has the
 * host of this page. Other browsers suggest it for `autocomplete`.
 */
const input = document.querySelector('#code');
if (input && 'OTPCredential' in window) {
  const otherWay = new AbortController();
  input.form.addEventListener('submit', () => otherWay.abort());
  navigator.credentials.get({ otp: { transport: ['sms'] }, signal: otherWay.signal }).then(
    ({ code }) => {
      input.value = code;
      input.form.requestSubmit();
    },
    // The user declined, submitted the form before, or the browser cannot read messages.
    () => {},
  );
}

if (wait) {
  const endsAt = performance.now() + Number(wait.dataset.seconds) * 1000;
  button.disabled = true;
  const timer = setInterval(() => {
    const seconds = Math.ceil((endsAt - performance.now()) / 1000);
    if (seconds > 0) {
      wait.textContent = format(seconds);
      return;
    }
    clearInterval(timer);
    wait.parentElement.remove();
    button.disabled = false;
  }, 1000);
}
