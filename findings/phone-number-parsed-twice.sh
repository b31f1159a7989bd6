#!/usr/bin/env bash
# Phone number libraries: the E.164 result of one input, parsed again, is another number.
#
# Versions: google-libphonenumber 3.2.47 and libphonenumber-js 1.13.16 (metadata "max"). The number is one of those that the German
# regulator reserves for fiction.
# Expected: parsing is idempotent: what a library returns as E.164 is parsed to itself. And a valid mobile number that lacks only its
# plus, parsed for its own country, is that mobile number.
# Seen: "+49 (0) 0171 …" becomes +490171…, which the libraries call possible; parsed again, it becomes +49171…, which is valid.
# "49 171 …" for Germany becomes +49 491 71…, a fixed line in another town, which the libraries call valid.
# Why it matters: sign-in by phone uses E.164 as the identity. A stored number that parses to another one locks its owner out, and a
# one-time password for the second form goes to a stranger. Parse twice and compare, and try the input with a plus first.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "commonjs" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts google-libphonenumber@3.2.47 libphonenumber-js@1.13.16

cat > check.js <<'JS'
const { PhoneNumberFormat, PhoneNumberUtil } = require('google-libphonenumber');
const { parsePhoneNumberFromString } = require('libphonenumber-js/max');

const util = PhoneNumberUtil.getInstance();
const libraries = {
  'google-libphonenumber': (text, country) => {
    const number = util.parse(text, country);
    const e164 = util.format(number, PhoneNumberFormat.E164);
    return { e164, isPossible: util.isPossibleNumber(number), isValid: util.isValidNumber(number) };
  },
  'libphonenumber-js': (text, country) => {
    const number = parsePhoneNumberFromString(text, country);
    return { e164: number.number, isPossible: number.isPossible(), isValid: number.isValid() };
  },
};

let hasChanged = false;
for (const [name, parse] of Object.entries(libraries)) {
  const once = parse('+49 (0) 0171 3920012');
  const twice = parse(once.e164);
  const withoutPlus = parse('49 171 3920012', 'DE');
  console.log(`${name}: ${once.e164} (possible: ${once.isPossible}), parsed again ${twice.e164} (valid: ${twice.isValid})`);
  console.log(`${name}: without a plus ${withoutPlus.e164} (valid: ${withoutPlus.isValid})`);
  hasChanged ||=
    !once.isPossible || !twice.isValid || once.e164 === twice.e164 ||
    !withoutPlus.isValid || withoutPlus.e164 === '+491713920012';
}
console.log(hasChanged ? 'Changed: at least one library behaves differently.' : 'As described.');
process.exit(hasChanged ? 1 : 0);
JS
node check.js
