#!/usr/bin/env bash
# Chromium: the Enter key on a checkbox submits a form whose default button is disabled.
#
# Versions: Chromium 156.0.8078, driven by playwright-core 1.65.1. Needs `chromium` on the PATH, or CHROMIUM_PATH.
# Expected: if the first submit button of a form is disabled, implicit submission does nothing (HTML Standard, "Implicit submission").
# Seen: this holds for Enter in a text field. For Enter on a checkbox, Chromium skips the disabled button and presses the next one.
# Why it matters: a consent page has a checkbox for each permission, and "Allow" as its first button. A user who presses Enter to
# toggle a box allows everything. A disabled button in front does not prevent it. An enabled one with formmethod="dialog" does, because
# outside of a dialog it submits nothing.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

browser=${CHROMIUM_PATH:-$(command -v chromium)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts playwright-core@1.65.1

cat > check.js <<'JS'
import { chromium } from 'playwright-core';

const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox'] });
const page = await browser.newPage();

/** Presses Enter in a field of a form. Returns the pressed button, or undefined if the form was not submitted. */
async function submitter(field, firstButton) {
  await page.setContent(`
    <form>
      ${firstButton}
      ${field}
      <button name="allow">Allow</button>
    </form>
    <script>
      window.pressed = undefined;
      addEventListener('submit', (event) => {
        event.preventDefault();
        if (event.submitter.formMethod !== 'dialog') window.pressed = event.submitter.name;
      });
    </script>`);
  await page.locator('input').press('Enter');
  return page.evaluate(() => window.pressed);
}

const disabled = '<button name="disabled" disabled hidden></button>';
const results = {
  'text field, disabled button first': await submitter('<input type="text">', disabled),
  'checkbox, disabled button first': await submitter('<input type="checkbox">', disabled),
  'checkbox, formmethod="dialog" first': await submitter('<input type="checkbox">', '<button formmethod="dialog" hidden></button>'),
};
console.log(`Chromium ${browser.version()}`);
for (const [name, pressed] of Object.entries(results)) console.log(`${name}: ${pressed ?? 'not submitted'}`);
await browser.close();
const isAsDescribed = JSON.stringify(Object.values(results)) === JSON.stringify([undefined, 'allow', undefined]);
console.log(isAsDescribed ? 'As described.' : 'Changed.');
process.exit(isAsDescribed ? 0 : 1);
JS
node check.js "$browser"
