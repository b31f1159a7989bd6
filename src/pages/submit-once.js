/*
 * What all pages with a form and a script do. Shows times in the time zone and the format of the browser. Without scripts, they are in
 * UTC.
 *
 * Shows the photo of the user once it has loaded.
 *
 * Loads a page again that comes from the back/forward cache of the browser: it may show a request that has its response, or a user who
 * has signed out.
 *
 * Ignores another submission of a form until its response is shown, for example by a double click: it would abort the first request,
 * whose response may carry a code or a session.
 */
const { lang } = document.documentElement;
const locales = [...navigator.languages.filter((tag) => tag.startsWith(lang)), lang];
const format = new Intl.DateTimeFormat(locales, { dateStyle: 'long', timeStyle: 'short' });
for (const time of document.querySelectorAll('time'))
  time.textContent = format.format(new Date(time.dateTime));

for (const photo of document.querySelectorAll('.avatar img'))
  photo.decode().then(
    () => photo.parentElement.classList.add('loaded'),
    () => photo.remove(),
  );

const LIMIT_MS = 10_000;
let sentAt = -LIMIT_MS;

addEventListener('submit', (event) => {
  // The button of the consent page for the Enter key sends nothing.
  if (event.defaultPrevented || event.submitter?.formMethod === 'dialog') return;
  if (performance.now() < sentAt + LIMIT_MS) event.preventDefault();
  else sentAt = performance.now();
});
addEventListener('pageshow', ({ persisted }) => {
  sentAt = -LIMIT_MS;
  if (persisted) location.reload();
});
