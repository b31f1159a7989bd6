import './submit-once.js';

/*
 * Counts down to the time of the next request for a code, and disables the button until then. Without this script, the page shows the
 * time as of when it was opened, and the server rejects an early request.
 */
const wait = document.querySelector('[data-seconds]');
const button = document.querySelector('button[name="again"]');

/** Like the server, which uses minutes and more from two minutes on. */
function formatSeconds(seconds) {
  const options = { style: 'unit', unit: 'second', unitDisplay: 'long' };
  return new Intl.NumberFormat(document.documentElement.lang, options).format(seconds);
}

if (wait) {
  const endsAt = performance.now() + Number(wait.dataset.seconds) * 1000;
  button.disabled = true;
  const timer = setInterval(() => {
    const seconds = Math.ceil((endsAt - performance.now()) / 1000);
    if (seconds > 0) {
      if (seconds < 120) wait.textContent = formatSeconds(seconds);
      return;
    }
    clearInterval(timer);
    wait.parentElement.remove();
    button.disabled = false;
  }, 1000);
}
