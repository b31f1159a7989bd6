import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { CommandResult } from '../support/command-line.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { useImports } from '../support/user-imports.js';

const HEADER = 'phone,name,neighborhood,photo_url,latitude,longitude';
const ALL_COLUMNS = 'phone,name,external_id,neighborhood,photo_url,latitude,longitude';

onOneEngine('Command "user import" with CSV', (database) => {
  const { app, cli, folder, users, imports } = useImports(database);

  const csv = (...lines: string[]): Promise<string> =>
    imports.write('users.csv', [HEADER, ...lines, ''].join('\n'));

  it('adds new users, updates changed users, and leaves the others unchanged', async () => {
    const ana = '+14155550101,Ana Lee,Riverside,https://a.example/a.jpg,37.7749,-122.4194';
    const ben = '+1 (415) 555-0102,"Lee, Ben",,,,';
    const first = await imports.run(await csv(ana, ben), '--actor', 'olga', '--reason', 'Moved');
    expect(first).toEqual({
      code: 0,
      dry_run: false,
      lines: 2,
      added: 2,
      updated: 0,
      unchanged: 0,
      invalid: 0,
      errors: [],
      doubtful: 0,
      warnings: [],
    });
    const profile = {
      name: 'Ana Lee',
      neighborhood: 'Riverside',
      photoUrl: 'https://a.example/a.jpg',
      latitude: 37.7749,
      longitude: -122.4194,
      status: 'active',
      karma: 0,
    };
    const added = await imports.byPhone('+14155550101');
    expect(added).toMatchObject(profile);
    expect(await imports.byPhone('+14155550102')).toMatchObject({
      name: 'Lee, Ben',
      latitude: null,
    });
    const again = await imports.run(await csv(ana, ben));
    expect(again).toMatchObject({ code: 0, added: 0, updated: 0, unchanged: 2 });
    const changed = await imports.run(await csv(ana.replace('Riverside', ''), ben));
    expect(changed).toMatchObject({ code: 0, added: 0, updated: 1, unchanged: 1 });
    expect(await imports.byPhone('+14155550101')).toEqual({ ...added, neighborhood: null });
    const trail = await auditTrail(app().dataSource, added?.id ?? '');
    expect(trail).toEqual([
      {
        action: 'user.added',
        actor: 'olga',
        reason: 'Moved',
        details: { osUser: userInfo().username },
      },
      {
        action: 'user.updated',
        actor: expect.any(String),
        reason: null,
        details: { fields: ['neighborhood'] },
      },
    ]);
  });

  it('keeps the values of columns that the file does not have, and accepts columns in any order', async () => {
    await imports.run(await csv('+14155550111,Cem,Hillside,,1,2'));
    await users().update({ phone: '+14155550111' }, { status: 'blocked' });
    const path = await imports.write('short.csv', 'name,phone\r\nCEM,+14155550111\r\n');
    expect(await imports.run(path)).toMatchObject({ updated: 1 });
    expect(await imports.byPhone('+14155550111')).toMatchObject({
      name: 'CEM',
      neighborhood: 'Hillside',
      latitude: 1,
      status: 'blocked',
    });
  });

  it('accepts a byte order mark, CRLF, empty lines, quotes, and any script', async () => {
    const text = `\uFEFF${HEADER}\r\n\r\n+14155550121,"Žofie ""Z"" 🌻",,,,\r\n\r\n+14155550122,Ana`;
    const path = await imports.write('excel.csv', `${text},,,,`);
    expect(await imports.run(path)).toMatchObject({ code: 0, lines: 2, added: 2 });
    expect(await imports.byPhone('+14155550121')).toMatchObject({ name: 'Žofie "Z" 🌻' });
  });

  it('skips the unnamed columns and the rows of commas that spreadsheets add', async () => {
    const path = await imports.write(
      'commas.csv',
      `${HEADER},,\n+14155550123,Ana,,,,,,\n,,,,,,,\n, , ,,,,,\n+14155550124,Ben,,,,,x,\n`,
    );
    expect(await imports.run(path)).toMatchObject({ code: 1, added: 1 });
    expect(await imports.byPhone('+14155550123')).toMatchObject({ name: 'Ana' });
  });

  it('reports invalid lines by line number and imports the valid ones', async () => {
    const latin = Buffer.from('+14155550139,Zo\xEB,,,,\n', 'latin1');
    const text = [
      HEADER,
      '+14155550131,Ana,,,,',
      '555,Ben,,,,',
      '+14155550132, ,,,,',
      '',
      '+14155550133,Dina,,ftp://a.example/d.jpg,,',
      '+14155550134,Eli,,,91,0',
      '+14155550135,Fay,,,1,',
      '+14155550131,Ana again,,,,',
      '+14155550136,Gus',
      '+14155550137,"Hal,,,,',
      '+14155550138,Ida "I",,,,',
      `+14155550140,${'x'.repeat(40_000)},,,,`,
      '+14155550141,Jo,,,,',
      '',
    ].join('\n');
    const path = await imports.write('bad.csv', Buffer.concat([Buffer.from(text), latin]));
    const { errors, ...counts } = await imports.run(path);
    expect(counts).toMatchObject({ code: 1, lines: 13, added: 2, invalid: 11 });
    expect(errors).toEqual([
      { line: 3, problem: expect.stringContaining('phone must be a phone number') },
      { line: 4, problem: 'name is required.' },
      { line: 6, problem: 'photo_url must be a URL with http or https.' },
      { line: 7, problem: 'latitude must be a number from -90 to 90.' },
      { line: 8, problem: 'latitude and longitude must be set together.' },
      { line: 9, problem: 'phone is already used on line 2.' },
      { line: 10, problem: 'It has 2 of 6 columns. Is the file complete?' },
      { line: 11, problem: expect.stringContaining('Its quotes do not match.') },
      { line: 12, problem: expect.stringContaining('Its quotes do not match.') },
      { line: 13, problem: 'It is longer than 32768 characters.' },
      { line: 15, problem: 'It is not valid UTF-8.' },
    ]);
    expect(await imports.byPhone('+14155550131')).toMatchObject({ name: 'Ana' });
    expect(await imports.byPhone('+14155550141')).toMatchObject({ name: 'Jo' });
    const { code, stdout, stderr } = await cli.run('user', 'import', path);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^invalid lines +11$/m);
    expect(stderr).toMatch(
      /^line 3: phone must .*\n(line .*\n){10}11 of 13 lines were not imported\./,
    );
  });

  it('treats a carriage return within a line as part of the line', async () => {
    const path = await imports.write(
      'returns.csv',
      'phone,name\n+14155550142,Kim\r+14155550143\n+14155550144,Lou\n',
    );
    expect(await imports.run(path)).toMatchObject({
      added: 1,
      errors: [
        {
          line: 2,
          problem: 'name must be one line without control characters, but contains U+000D.',
        },
      ],
    });
  });

  it('imports a last line without a line feed with a warning, and with --strict rejects it and imports the others', async () => {
    const help = (await cli.run('user', 'import', '--help')).stdout.replaceAll(/\s+/g, ' ');
    expect(help).toContain('refuse a last line without a line feed');
    expect(help).toContain('the other lines are imported');
    const cut = await imports.write('cut.csv', `name,phone\nAna,+14155550171\nBen,+14155550172`);
    const warning = {
      line: 3,
      problem: 'It does not end with a line feed. Is the file complete?',
    };
    const counts = {
      code: 1,
      added: 1,
      invalid: 1,
      errors: [warning],
      doubtful: 0,
      warnings: [],
    };
    expect(await imports.run(cut, '--strict')).toMatchObject(counts);
    expect(await imports.byPhone('+14155550171')).toMatchObject({ name: 'Ana' });
    expect(await imports.byPhone('+14155550172')).toBeNull();
    expect(await imports.run(cut, '--dry-run')).toMatchObject({ code: 0, warnings: [warning] });
    const { code, stdout, stderr } = await cli.run('user', 'import', cut);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Warning: line 3: ${warning.problem}\n`,
    });
    expect(stdout).toMatch(/^added +1\n(.*\n)+doubtful lines +1$/m);
    const whole = await imports.write('cut.csv', `name,phone\nAna,+14155550171\n\n`);
    expect(await imports.run(whole, '--strict')).toMatchObject({ code: 0, doubtful: 0 });
  });

  it('warns of a header without members, and rejects it with --strict', async () => {
    for (const text of [`${HEADER}\n`, HEADER, `sep=;\n${HEADER}\n,,,,,\n`]) {
      const path = await imports.write('header.csv', text);
      const warnings = [{ line: 1, problem: 'The file has a header, but no members.' }];
      expect(await imports.run(path)).toMatchObject({ code: 0, lines: 0, doubtful: 1, warnings });
      expect(await cli.run('user', 'import', path, '--strict')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The file has a header, but no members.\n',
      });
    }
  });

  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('accepts %s as separators, with decimal commas, as Excel writes them', async (name, by) => {
    const rows = [
      ['phone', 'name', 'latitude', 'longitude', ''],
      ['+14155550173', '"Lee; Ana"', '37,7749', '-122,4194', ''],
      ['+14155550174', 'Lee, Ben', '1', '2.5', ''],
      ['', '', '', '', ''],
      ['+14155550175', 'Cem', ''],
    ];
    const path = await imports.write(
      'excel.tsv',
      `sep=${by}\r\n${rows.map((row) => `${row.join(by)}\r\n`).join('')}`,
    );
    expect(await imports.run(path)).toMatchObject({
      code: 1,
      invalid: 1,
      errors: [{ line: 6, row: 5, problem: 'It has 3 of 5 columns. Is the file complete?' }],
    });
    expect(await imports.byPhone('+14155550173')).toMatchObject({
      latitude: 37.7749,
      longitude: -122.4194,
    });
    expect(await imports.byPhone('+14155550174')).toMatchObject({
      name: 'Lee, Ben',
      latitude: 1,
      longitude: 2.5,
    });
    const wide = await imports.write('wide.csv', `phone${by}name\n+14155550176${by}A${by}B\n`);
    expect((await imports.run(wide)).errors).toEqual([
      { line: 2, problem: `It has 3 columns instead of 2. Quote values that contain ${name}.` },
    ]);
  });

  it.each(['14155550101', '14155550101.0', '1.42E+10', '1,42E+10', '4915123456789'])(
    'says how to keep the plus of "%s", which a spreadsheet stored as a number',
    async (phone) => {
      const path = await imports.write('numbers.csv', `phone;name\n${phone};Ana\n`);
      const { errors } = await imports.run(path);
      expect(errors).toEqual([
        {
          line: 2,
          problem:
            'phone must be a phone number with its country code, such as +14155550101. If a spreadsheet removed the plus, format the column as text, then enter the numbers again.',
        },
      ]);
    },
  );

  it('names the row of the spreadsheet, too, after a value with a line break', async () => {
    const fillers = Array.from({ length: 600 }, (_, index) => `+1415778${2000 + index},A,,,,`);
    const path = await csv(
      '+14155550177,"Ana',
      '',
      'Lee",,,,',
      '1,Ben,,,,',
      ...fillers,
      '+14155550177,"Cem ""C""\nOrtiz",,,,',
      '1,Dina,,,,',
      fillers[0] ?? '',
    );
    const control = 'name must be one line without control characters, but contains U+000A.';
    expect(await imports.run(path)).toMatchObject({
      lines: 605,
      added: 600,
      errors: [
        { line: 2, problem: control },
        { line: 5, row: 3, problem: expect.stringContaining('phone must be') },
        { line: 606, row: 604, problem: control },
        { line: 608, row: 605, problem: expect.stringContaining('phone must be') },
        { line: 609, row: 606, problem: 'phone is already used on line 6 (row 4).' },
      ],
    });
    const { stderr } = await cli.run('user', 'import', path);
    expect(stderr).toMatch(/^line 2: name .*\nline 5 \(row 3\): phone must be/);
  });

  it.each([false, true])('refuses a second line of a stored member, first: %s', async (first) => {
    const members = (lines: string[]): Promise<string> =>
      imports.write('twice.csv', `phone,name,external_id\n${lines.join('\n')}\n`);
    const id = `twice-${first}`;
    const phone = first ? '+14155559191' : '+14155559192';
    await imports.run(await members([`${phone},Ana,${id}`]));
    const lines = [`${phone},Ana,`, `+1415555${first ? 9183 : 9184},Ana,${id}`];
    const path = await members(first ? lines.toReversed() : lines);
    const [line, other] = first ? [2, 3] : [3, 2];
    const problem = `external_id is that of the member whose phone is used on line ${other}.`;
    for (const options of [['--dry-run'], []])
      expect(await imports.run(path, ...options)).toMatchObject({
        code: 1,
        errors: [{ line, problem }],
      });
    expect(await imports.byPhone(phone)).toMatchObject({ externalId: id });
  });

  it('reports a quote that is never closed at its own line, and imports the lines after it', async () => {
    const others = Array.from({ length: 30 }, (_, index) => `+1415779${2000 + index},A,,,,`);
    const { errors, ...counts } = await imports.run(
      await csv('+14155550178,"Ana,,,,', ...others, '+14155550179,"Ben,,,,'),
    );
    expect(counts).toMatchObject({ added: 30, invalid: 2 });
    expect(errors).toEqual([
      { line: 2, problem: expect.stringContaining('Its quotes do not match.') },
      { line: 33, problem: expect.stringContaining('Its quotes do not match.') },
    ]);
  });

  it('imports numbers that are only possible, and fixed lines, with a warning', async () => {
    const unknown = 'phone is possible, but in no known range of numbers. Check it.';
    const fixed = 'phone is a fixed line, to which text messages may not be delivered.';
    const path = await csv(
      '+39 0347 1234567,Ana,,,,',
      '+39 347 1234567,Ana,,,,',
      '+55 11 6123 4567,Ben,,,,',
      '+54 11 2345 6789,Cem,,,,',
      '+54 9 11 2345 6789,Cem,,,,',
      '+1 621 555 0101,Dina,,,,',
      '+52 1 55 1234 5678,Eli,,,,',
      `"'(+44) 7911 123456;",Fay,,,,`,
    );
    expect(await imports.run(path)).toMatchObject({
      code: 0,
      added: 8,
      invalid: 0,
      doubtful: 4,
      warnings: [
        { line: 2, problem: unknown },
        { line: 4, problem: unknown },
        { line: 5, problem: fixed },
        { line: 7, problem: unknown },
      ],
    });
    expect(await imports.byPhone('+525512345678')).toMatchObject({ name: 'Eli' });
    expect(await imports.byPhone('+447911123456')).toMatchObject({ name: 'Fay' });
    expect(await imports.run(path)).toMatchObject({ code: 0, unchanged: 8 });
  });

  it('writes one summary to the audit log, but none for a dry run', async () => {
    const path = await csv('+14155550180,Ana,,,,', '+14155559181,Ben,,,,', 'x,Cem,,,,');
    const summaries = () =>
      cli.json<object[]>('audit', 'list', '--actor', 'olga', '--not-action', 'user.added');
    const before = await summaries();
    await imports.run(path, '--dry-run', '--actor', 'olga');
    expect(await summaries()).toEqual(before);
    await imports.run(path, '--actor', 'olga', '--reason', 'Nightly');
    const [summary] = await summaries();
    expect(summary).toMatchObject({
      action: 'user.imported',
      subject: 'users',
      actor: 'olga',
      reason: 'Nightly',
      details: { lines: 3, added: 2, updated: 0, unchanged: 0, invalid: 1, doubtful: 0 },
    });
  });

  it('prints 20 invalid lines, returns at most 1000 as JSON, and counts all of them', async () => {
    const lines = Array.from({ length: 1200 }, (_, number) => `${number},Ana,,,,`);
    const path = await csv(...lines);
    const { stderr } = await cli.run('user', 'import', path);
    expect(stderr.match(/^line \d+:/gm)).toHaveLength(20);
    expect(stderr).toContain('and 1180 more (--json lists up to 1000)');
    const { invalid, errors } = await imports.run(path);
    expect({ invalid, listed: errors.length }).toEqual({ invalid: 1200, listed: 1000 });
  });

  it('validates every line with --dry-run and writes nothing', async () => {
    await imports.run(await csv('+14155550151,Ana,,,,'));
    const before = await imports.users();
    const path = await csv('+14155550151,ANA,,,,', '+14155550152,Ben,,,,', 'x,Cem,,,,');
    expect(await imports.run(path, '--dry-run')).toMatchObject({
      code: 1,
      dry_run: true,
      added: 1,
      updated: 1,
      invalid: 1,
    });
    expect(await imports.users()).toEqual(before);
  });

  it('continues an incomplete import, over several batches', async () => {
    const lines = Array.from(
      { length: 1100 },
      (_, index) => `+1415666${1000 + index},Person ${index},,,,`,
    );
    expect(await imports.run(await csv(...lines.slice(0, 600)))).toMatchObject({ added: 600 });
    const all = await csv(...lines);
    expect(await imports.run(all)).toMatchObject({ added: 500, unchanged: 600 });
    const moved = await csv(...lines.map((line) => line.replace(',,,,', ',Hillside,,,')));
    expect(await imports.run(moved)).toMatchObject({ updated: 1100 });
    expect(await imports.byPhone('+14156662099')).toMatchObject({ neighborhood: 'Hillside' });
  });

  it.each([
    ['phone,nam', '"nam" is not a column. Did you mean "name"?'],
    ['name,neighborhood', 'The column "phone" is missing.'],
    ['phone,name,phone', 'The column "phone" appears twice.'],
    ['phone|name', 'Separate the columns with commas, semicolons or tabs.'],
    ['phone,"name', 'The quotes of the first line do not match.'],
    ['', 'The file is empty.'],
    ['phone,name\r+14155550161,Ana\r', 'The file has no line feeds'],
    [Buffer.from('\uFEFFphone,name', 'utf16le'), 'The file is not UTF-8'],
  ])('rejects the invalid header %j', async (header, sentence) => {
    const path = await imports.write('header.csv', header);
    const { code, stdout, stderr } = await cli.run('user', 'import', path);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr).toContain(`The first line names the columns: ${ALL_COLUMNS}`);
  });

  it('rejects a missing file, a directory, and a file name without a known extension', async () => {
    const runRaw = (...args: string[]): Promise<CommandResult> =>
      cli.run('user', 'import', ...args);
    const missing = join(folder, 'none.csv');
    expect(await runRaw(missing)).toMatchObject({
      code: 1,
      stderr: `There is no file ${missing}.\n`,
    });
    // The error comes before the question, which would exit with 2 without a terminal.
    const unconfirmed = ['user', 'import', missing, '--reassign-phones'];
    expect(await cli.run(...unconfirmed)).toMatchObject({
      code: 1,
      stderr: `There is no file ${missing}.\n`,
    });
    const directory = folder;
    expect(await runRaw(directory, '--format', 'csv')).toMatchObject({
      code: 1,
      stderr: `${directory} is a directory. Name a file in it.\n`,
    });
    const text = await imports.write('users.txt', `${HEADER}\n+14155550161,Ana,,,,\n`);
    expect(await runRaw(text)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--format'),
    });
    expect(await runRaw(text, '--format', 'xml')).toMatchObject({ code: 2 });
    expect(await imports.run(text, '--format', 'csv')).toMatchObject({ added: 1 });
  });
});
