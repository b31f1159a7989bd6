import './submit-once.js';

/*
 * Delays Allow when the page appears again, as style.css does when it loads: a pop-up may have covered the page and closed between
 * the two clicks of a double click. The delay also ignores the Enter key.
 */
const DELAY_MS = 800;
const allow = document.querySelector('button.allow');
let acceptsAt = 0;

function delayAllow() {
  acceptsAt = performance.now() + DELAY_MS;
  allow.animate({ pointerEvents: ['none', 'none'] }, DELAY_MS);
}

delayAllow();
addEventListener('focus', delayAllow);
addEventListener('pageshow', () => {
  // A text fragment in the link may have scrolled to Allow.
  scrollTo(0, 0);
  delayAllow();
});
document.addEventListener('visibilitychange', delayAllow);
allow.form.addEventListener('submit', (event) => {
  if (event.submitter === allow && performance.now() < acceptsAt) event.preventDefault();
});
