/*
 * Ignores another submission of a form until its response is shown, for example by a double click: it would abort the first request,
 * whose response may carry a code or a session.
 */
const LIMIT_MS = 10_000;
let sentAt = -LIMIT_MS;

addEventListener('submit', (event) => {
  if (event.defaultPrevented) return;
  if (performance.now() < sentAt + LIMIT_MS) event.preventDefault();
  else sentAt = performance.now();
});
addEventListener('pageshow', () => {
  sentAt = -LIMIT_MS;
});
