/** A generator of clients in another language than TypeScript. `programs/<folder>/` has a program that uses the client. */
export interface Generator {
  /** With the version. */
  name: string;
  folder: string;
  /** Programs, and absolute paths of libraries of Debian. */
  needs: readonly string[];
  /** Changes the document, if the generator does not support all of it. */
  adapt?: (document: string) => string;
  /** Shell commands that generate a client from `openapi.json` and compile it with the program, in a folder with both. */
  build: readonly string[];
  /** The command that runs the program. */
  run: string;
}

/** The parts of a schema that are adapted. */
interface Schema {
  allOf?: Schema[];
  anyOf?: Schema[];
  type?: string | string[];
  enum?: unknown[];
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const revive =
  (change: (schema: Schema) => unknown) =>
  (document: string): string =>
    JSON.stringify(
      JSON.parse(document, (_name, value: unknown) => (isObject(value) ? change(value) : value)),
    );

/** Removes enumerations of the one value true, which become classes that do not compile. */
const withoutBooleanEnums = revive(({ enum: values, ...schema }) =>
  schema.type === 'boolean' || values === undefined ? schema : { ...schema, enum: values },
);

/**
 * Replaces the codes of each response (`allOf`) by the error itself, and an enumeration that may grow (`anyOf` with a string) by a
 * string.
 */
const withoutUnions = revive(({ allOf, anyOf, ...schema }) =>
  allOf ? allOf[0] : { ...schema, ...anyOf?.at(-1) },
);

/** Renames the security scheme `client`, which is a name of ogen's own. */
const withoutClientScheme = (document: string): string =>
  document.replaceAll('"client":', '"app":');

const PIP = 'python3 -m venv venv && venv/bin/pip install --quiet --disable-pip-version-check';

const openapiGenerator = (language: string, options = ''): string[] => [
  'mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.',
  `java -jar openapi-generator-cli-7.25.0.jar generate -i openapi.json -g ${language} -o client --global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false ${options}`,
];
/** By default, these clients reject responses with members that the document does not list. */
const ACCEPT_NEW_MEMBERS = 'disallowAdditionalPropertiesIfNotPresent=false';

/** Versions of generators are pinned here, those of libraries here and in `programs/`. */
export const GENERATORS: readonly Generator[] = [
  {
    name: 'oapi-codegen 2.8.2',
    folder: 'oapi-codegen',
    needs: ['go'],
    build: [
      'go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate types,client -package main -o api.go openapi.json',
      'go get github.com/oapi-codegen/runtime@v1.9.0',
      'go mod tidy',
      'go build -o program .',
    ],
    run: './program',
  },
  {
    name: 'ogen 1.24.0',
    folder: 'ogen',
    needs: ['go'],
    adapt: (document) => withoutClientScheme(withoutUnions(document)),
    build: [
      'go run github.com/ogen-go/ogen/cmd/ogen@v1.24.0 --target api --package api openapi.json',
      'go get github.com/ogen-go/ogen@v1.24.0',
      'go mod tidy',
      'go build -o program .',
    ],
    run: './program',
  },
  {
    name: 'openapi-python-client 0.29.1',
    folder: 'openapi-python-client',
    needs: ['python3'],
    build: [
      `${PIP} openapi-python-client==0.29.1`,
      'PATH="$PWD/venv/bin:$PATH" venv/bin/openapi-python-client generate --path openapi.json --output-path developer_api_client --meta none',
    ],
    run: 'venv/bin/python program.py',
  },
  {
    name: 'datamodel-code-generator 0.89.0',
    folder: 'datamodel-code-generator',
    needs: ['python3'],
    build: [
      `${PIP} datamodel-code-generator==0.89.0 pydantic==2.14.3`,
      'venv/bin/datamodel-codegen --input openapi.json --input-file-type openapi --output models.py --output-model-type pydantic_v2.BaseModel',
    ],
    run: 'venv/bin/python program.py',
  },
  {
    name: 'openapi-generator 7.25.0 (go)',
    folder: 'openapi-generator-go',
    needs: ['java', 'mvn', 'go'],
    build: [
      ...openapiGenerator(
        'go',
        `--additional-properties=packageName=client,withGoMod=false,enumClassPrefix=true,${ACCEPT_NEW_MEMBERS}`,
      ),
      'go get golang.org/x/oauth2@v0.34.0',
      'go mod tidy',
      'go build -o program .',
    ],
    run: './program',
  },
  {
    name: 'openapi-generator 7.25.0 (python)',
    folder: 'openapi-generator-python',
    needs: ['java', 'mvn', 'python3'],
    build: [...openapiGenerator('python'), `${PIP} ./client`],
    run: 'venv/bin/python program.py',
  },
  {
    name: 'openapi-generator 7.25.0 (java)',
    folder: 'openapi-generator-java',
    needs: ['java', 'mvn'],
    adapt: withoutBooleanEnums,
    build: [
      ...openapiGenerator('java', `--additional-properties=${ACCEPT_NEW_MEMBERS}`),
      'cp Program.java client/src/main/java/',
      'mvn -q -B -f client compile dependency:copy-dependencies -DoutputDirectory=target/lib',
    ],
    run: "java -cp 'client/target/classes:client/target/lib/*' Program",
  },
  {
    name: 'openapi-generator 7.25.0 (kotlin)',
    folder: 'openapi-generator-kotlin',
    needs: ['java', 'mvn'],
    adapt: withoutUnions,
    build: [
      ...openapiGenerator('kotlin'),
      'mvn -q -B compile dependency:copy-dependencies -DoutputDirectory=target/lib',
    ],
    run: "java -cp 'target/classes:target/lib/*' ProgramKt",
  },
  {
    name: 'openapi-generator 7.25.0 (rust)',
    folder: 'openapi-generator-rust',
    needs: ['java', 'mvn', 'cargo'],
    adapt: (document) => withoutBooleanEnums(withoutUnions(document)),
    build: [...openapiGenerator('rust'), 'cargo build --quiet'],
    run: 'target/debug/program',
  },
  {
    name: 'openapi-generator 7.25.0 (php)',
    folder: 'openapi-generator-php',
    needs: ['java', 'mvn', 'php', '/usr/share/php/GuzzleHttp/autoload.php'],
    adapt: withoutUnions,
    build: openapiGenerator('php'),
    run: 'php program.php',
  },
  {
    name: 'openapi-generator 7.25.0 (ruby)',
    folder: 'openapi-generator-ruby',
    needs: [
      'java',
      'mvn',
      'ruby',
      '/usr/share/rubygems-integration/all/specifications/typhoeus-1.4.0.gemspec',
    ],
    adapt: withoutUnions,
    build: openapiGenerator('ruby'),
    run: 'ruby program.rb',
  },
];
