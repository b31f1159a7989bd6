import { textsOf } from '../../../../test/support/texts.js';

describe('The Spanish texts', () => {
  const english = textsOf('en');
  const spanish = [...textsOf('es')];

  it('differ from the English ones', () => {
    const same = spanish.filter(([path, text]) => english.get(path) === text);
    expect(same.map(([path]) => path)).toEqual(['direction', 'layout.error']);
  });

  it('contain no English words', () => {
    const words = /\b(the|you|your|this|that|and|with|was|not|is|it|to|of|for|what)\b/i;
    for (const [path, text] of spanish) expect(text, path).not.toMatch(words);
  });

  it('address the user as "usted"', () => {
    const familiar =
      /(?<!\p{L})(tú|tu|tus|te|ti|contigo|tuyo|puedes|tienes|quieres|eres)(?!\p{L})/iu;
    for (const [path, text] of spanish) expect(text, path).not.toMatch(familiar);
  });
});
