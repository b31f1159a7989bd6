import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member, UNTOUCHED } from '../support/member.js';
import { processorTimeOf } from '../support/queries.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const JSON_TYPE = { 'content-type': 'application/json' };

const ALL =
  'Its fields are: title, content, type, images, tags, latitude, longitude, reachKm, visibility.';

/** An object of so many levels, each the only member of the one around it. */
const objects = (levels: number, name: string) =>
  `{"${name}":`.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);

/** The same of arrays. */
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

onOneEngine('The members of JSON bodies', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  /** Sends what must be refused, and nothing else. */
  let refused: Member;
  let comments: string;
  beforeAll(async () => {
    member = await Member.join(app());
    refused = await Member.join(app());
    const { id } = await refused.publish();
    await refused.comment(id);
    comments = `/posts/${id}/comments`;
  });
  const refuse = (text: string, path = '/posts') => refused.postRaw(path, text, JSON_TYPE);

  /**
   * Asserts that a refusal costs less than so many milliseconds of processor time. The least of several counts: one may pay
   * for something else.
   */
  async function expectCheap(most: number, text: string, ...violations: string[]): Promise<void> {
    const costs = [];
    for (let run = 1; run <= 10; run += 1) {
      const cost = await processorTimeOf(async () => {
        await expectFieldErrors(await refuse(text), ...violations);
      });
      costs.push(cost);
    }
    expect(Math.min(...costs)).toBeLessThan(most);
  }

  it('C56 A body may have 20 levels, itself included, and no more', async () => {
    const unknown = ['one_of_required', 'a unknown_field'];
    await expectFieldErrors(await refuse(objects(20, 'a')), ...unknown);
    await expectFieldErrors(await refuse(`{"a":${arrays(19)}}`), ...unknown);
    await expectFieldErrors(await refuse(objects(21, 'a')), 'too_deep');
    await expectFieldErrors(await refuse(`{"a":${arrays(20)}}`), 'too_deep');
    await expectFieldErrors(await refuse(objects(21, 'a'), comments), 'too_deep');
    await expectFieldErrors(await refuse(`{"content":"a","tags":${arrays(20)}}`), 'too_deep');
  });

  it('C56 50,000 levels are refused within 50 ms', async () => {
    for (const text of [objects(50_000, ''), `{"tags":${arrays(50_000)}}`])
      await expectCheap(50, text, 'too_deep');
  });

  it('C57 Of a body full of unknown fields 20 violations are listed, and it costs little', async () => {
    // As many different names as a body may hold.
    const text = JSON.stringify(
      Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [i.toString(36), 1])),
    );
    const names = Object.keys(JSON.parse(text) as object).slice(0, 19);
    const violations = ['one_of_required', ...names.map((name) => `${name} unknown_field`)];
    await expectCheap(200, text, ...violations);
    const near = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [`latitud${'e'.repeat(50)}${i}`, 1]),
    );
    const answer = await refuse(JSON.stringify({ content: 'a', ...near }));
    const { errors, error_description } = await expectApiError(answer, 400, 'invalid_request');
    expect(errors).toHaveLength(20);
    expect(error_description).toMatch(/^At least 20 fields are invalid: /);
    for (const { field, message } of errors ?? []) {
      expect(field).toHaveLength(50);
      expect(message.length).toBeLessThan(300);
    }
  });

  it('C57 C67 A name is told back as text that every program can read', async () => {
    const names = ['\ud800', `${'a'.repeat(49)}\u{1f600}`, `${'a'.repeat(50)}\u{1f600}`];
    for (const name of names) {
      const { errors = [] } = await expectFieldErrors(
        await refuse(JSON.stringify({ content: 'a', [name]: 1 })),
        `${[...name.toWellFormed()].slice(0, 50).join('')} unknown_field`,
      );
      for (const { field, message } of errors)
        expect([field.isWellFormed(), message.isWellFormed()]).toEqual([true, true]);
    }
  });

  it('C57 A body of 100,000 different names is larger than a body may be', async () => {
    const names = Array.from({ length: 100_000 }, (_, i) => [i.toString(36), 1] as const);
    const answer = await refuse(JSON.stringify(Object.fromEntries(names)));
    await expectApiError(answer, 413, 'payload_too_large');
  });

  it('C58 Of two members with one name the last counts', async () => {
    const answer = await member.postRaw('/posts', '{"content":"a","content":"b"}', JSON_TYPE);
    expect(answer.status).toBe(201);
    const { id, content } = await json<{ id: string; content: string }>(answer);
    expect(content).toBe('b');
    expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ content: 'b' });
    await expectFieldErrors(await refuse('{"content":"a","content":1}'), 'content wrong_type');
  });

  it.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf'])(
    'C59 A member named %s is unknown, in a field as well, and pollutes nothing',
    async (name) => {
      const evil = `{"${name}":{"polluted":true}}`;
      const own = `{"content":"a","${name}":{"polluted":true}}`;
      await expectFieldErrors(await refuse(own), `${name} unknown_field`);
      await expectFieldErrors(
        await refuse(`{"text":"a",${evil.slice(1)}`, comments),
        `${name} unknown_field`,
      );
      for (const inner of [
        `{"content":${evil}}`,
        `{"content":"a","tags":[${evil}]}`,
        `{"a":${evil}}`,
      ])
        await expectFieldErrors(await refuse(inner), `${name} unknown_field`);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect('polluted' in Object).toBe(false);
    },
  );

  it('C59 A member named like a method of the request is unknown', async () => {
    await expectFieldErrors(await refuse('{"content":"a","toDraft":1}'), 'toDraft unknown_field');
  });

  it('C60 What the service sets cannot be sent', async () => {
    const set = {
      id: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
      createdAt: '2020-01-01T00:00:00.000Z',
      userId: 'usr_01kahq5f3veqdr8bn3tdmx3q0a',
      deleted: true,
      permalink: 'https://evil.example',
    };
    const violations = Object.keys(set).map((field) => `${field} unknown_field`);
    await expectFieldErrors(await refused.post('/posts', { content: 'a', ...set }), ...violations);
    await expectFieldErrors(await refused.post(comments, { text: 'a', ...set }), ...violations);
  });

  it.each([
    ['latitiude', 'latitude'],
    ['Content', 'content'],
    ['reach_km', 'reachKm'],
    ['tag', 'tags'],
  ])(
    'C61 A field %s is unknown, and the message asks whether %s was meant',
    async (typed, meant) => {
      const answer = await refused.post('/posts', { content: 'a', [typed]: 1 });
      const { errors } = await expectFieldErrors(answer, `${typed} unknown_field`);
      expect(errors?.[0]?.message).toBe(
        `"${typed}" is not a field of this body. Did you mean ${meant}? ${ALL}`,
      );
    },
  );

  it('C61 Where no field is near, the message lists them all', async () => {
    const answer = await refused.post(comments, { text: 'a', colour: 1 });
    const { errors } = await expectFieldErrors(answer, 'colour unknown_field');
    expect(errors?.[0]?.message).toBe(
      '"colour" is not a field of this body. Its fields are: text, parentId.',
    );
  });

  it('C61 What is wrong with declared fields comes before what is no field', async () => {
    await expectFieldErrors(
      await refused.post('/posts', { colour: 1, visibility: 'all', latitude: 91 }),
      'latitude too_large',
      'longitude pair_required',
      'visibility not_allowed_value',
      'one_of_required',
      'colour unknown_field',
    );
  });

  it('C56 C57 C58 C59 C60 C61 What was refused left no row and spent no quota', async () => {
    expect(await footprintOf(refused)).toEqual(UNTOUCHED);
  });
});
