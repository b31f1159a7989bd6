import { readOutput, runProgram, writeInput } from './generators.js';

/** The parts of a Postman collection (format 2.1) that the tests read and change. */
export interface Collection {
  auth?: { type: string; [type: string]: unknown };
  variable?: { key: string; value: string }[];
  item: Folder[];
}

export interface Folder {
  name: string;
  item: Request[];
}

export interface Request {
  name: string;
  request: {
    method: string;
    auth?: { type: string } | null;
    header: Field[];
    url: { path: string[]; query?: Field[] };
    body?: { mode?: string; raw?: string; urlencoded?: Field[] };
  };
}

interface Field {
  key: string;
  value: string;
  disabled?: boolean;
}

interface Report {
  run: { executions: { item: { name: string }; response?: { code: number } }[] };
}

/** Runs a collection with newman. Returns the name and the status of each request. */
export async function runCollection(
  name: string,
  collection: Collection,
  environment: unknown,
): Promise<[name: string, status: number | undefined][]> {
  const report = `${name}-report.json`;
  await runProgram(
    'newman',
    'run',
    await writeInput(`${name}.json`, collection),
    `--environment=${await writeInput(`${name}-environment.json`, environment)}`,
    '--reporters=json',
    `--reporter-json-export=generated/${report}`,
    '--ignore-redirects',
  );
  const { run } = await readOutput<Report>(report);
  return run.executions.map(({ item, response }) => [item.name, response?.code]);
}

/** Converts the OpenAPI document with openapi-to-postmanv2, as an import into Postman does. */
export async function importDocument(): Promise<Collection> {
  const output = 'imported.json';
  await runProgram(
    'openapi2postmanv2',
    '--spec=generated/openapi.json',
    `--output=generated/${output}`,
    '--options=folderStrategy=Tags,parametersResolution=Example,enableOptionalParameters=false,alwaysInheritAuthentication=true',
  );
  return readOutput<Collection>(output);
}
