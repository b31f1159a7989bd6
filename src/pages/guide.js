/*
 * Adds a copy button to each code block, and shows the same language in all tabs of all pages. Without this script, each group of
 * tabs works on its own.
 */
const KEY = 'guide-language';
const radios = [...document.querySelectorAll('.tabs > input')];

function select(language) {
  for (const radio of radios) if (radio.value === language) radio.checked = true;
}

/** The browser may block the storage. */
function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // The choice applies to this page only.
  }
}

select(stored());
for (const radio of radios)
  radio.addEventListener('change', () => {
    // The tabs above may change their height.
    const { top } = radio.parentElement.getBoundingClientRect();
    select(radio.value);
    scrollBy(0, radio.parentElement.getBoundingClientRect().top - top);
    store(radio.value);
  });

// Browsers have a clipboard over https and on this machine only.
if (navigator.clipboard)
  for (const block of document.querySelectorAll('.sample')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const code = block.querySelector('code').textContent;
      button.textContent = await navigator.clipboard.writeText(code).then(
        () => 'Copied',
        () => 'Copy failed',
      );
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    block.prepend(button);
  }
