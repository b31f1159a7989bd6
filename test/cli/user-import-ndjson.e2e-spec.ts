import { onOneEngine } from '../support/database.js';
import { useImports } from '../support/user-imports.js';

onOneEngine('Command "user import" with NDJSON', (database) => {
  const { cli, imports } = useImports(database);

  it('reads one object per line; null clears a value, an absent member keeps it', async () => {
    const first = { phone: '+14155550201', name: 'Ana', neighborhood: 'Riverside' };
    const full = { ...first, latitude: 37.5, longitude: 1e-7 };
    const path = await imports.write('users.ndjson', `${JSON.stringify(full)}\n`);
    expect(await imports.run(path)).toMatchObject({ code: 0, added: 1 });
    expect(await imports.byPhone(first.phone)).toMatchObject({ latitude: 37.5, longitude: 1e-7 });
    const next = { phone: first.phone, name: 'Ana', latitude: null, longitude: null };
    const changed = await imports.write('users.ndjson', JSON.stringify(next));
    expect(await imports.run(changed)).toMatchObject({ code: 0, updated: 1 });
    expect(await imports.byPhone(first.phone)).toMatchObject({
      neighborhood: 'Riverside',
      latitude: null,
    });
  });

  it('reports the error of each invalid line', async () => {
    const lines = [
      '{"phone": "+14155550211", "name": "Ben", "neighbourhood": "x"}',
      '{"phone": 14155550211, "name": "Ben"}',
      '{"phone": "+14155550211", "name": "Ben", "latitude": 1}',
      '[]',
      '{"phone": "+14155550212", "name": "Cem"}',
      '{"phone": "+14155550213", "na',
    ];
    const path = await imports.write('bad.jsonl', lines.join('\n'));
    expect(await imports.run(path)).toMatchObject({
      code: 1,
      added: 1,
      invalid: 5,
      errors: [
        { line: 1, problem: '"neighbourhood" is not a column. Did you mean "neighborhood"?' },
        { line: 2, problem: 'phone must be a string.' },
        { line: 3, problem: 'latitude and longitude must be set together.' },
        { line: 4, problem: 'It is not a JSON object. Is the file complete?' },
        { line: 6, problem: 'It is not a JSON object. Is the file complete?' },
      ],
    });
  });

  it.each([
    '[\n{"phone":"+14155550231","name":"Ana"},\n{"phone":"+14155550232","name":"Ben"}\n]\n',
    ' []',
  ])('rejects a JSON array: %j', async (text) => {
    const path = await imports.write('array.ndjson', text);
    const { code, stdout, stderr } = await cli.run('user', 'import', path);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      "The file is one JSON array. NDJSON has one object per line, without brackets and commas around it. Convert it with: jq -c '.[]' FILE\n",
    );
    expect(await imports.byPhone('+14155550232')).toBeNull();
  });

  it('reads standard input as CSV, or in the format of --format', async () => {
    const line = '{"phone": "+14155550221", "name": "Ana"}';
    const args = ['user', 'import', '-', '--json'];
    const ndjson = await cli.runWithInput(line, ...args, '--format', 'ndjson');
    expect(JSON.parse(ndjson.stdout)).toMatchObject({ added: 1 });
    const csv = await cli.runWithInput('phone,name\n+14155550222,Ben\n', ...args);
    expect(JSON.parse(csv.stdout)).toMatchObject({ added: 1 });
    const empty = await cli.runWithInput('', ...args, '--format', 'ndjson');
    expect(empty).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The file is empty.'),
    });
  });
});
