/** A running service, and the access token of a user with every scope. */
export interface Service {
  baseUrl: string;
  token: string;
}

/** The results of five calls of a generated client. */
export interface Outcome {
  /** The name of the user. */
  user: string;
  /** The id of the published post. */
  created: string;
  /** The ids of the listed posts. */
  listed: string[];
  /** The error code for a wrong token. */
  unauthorized: string;
  /** The invalid fields of a rejected post. */
  invalidFields: string[];
}

/** The post that each client publishes. */
export const POST = { content: 'From a generated client', tags: ['generated'] };

/** A post with a content of more than 10,000 characters. */
export const TOO_LONG = { content: 'x'.repeat(10_001) };

/** Returns the problems of a value. */
export type Validate = (value: unknown) => string[];

/** The generated validators of an operation. Undefined if the generator writes none. */
export interface Validators {
  body(operationId: string): Validate | undefined;
  response(operationId: string, status: string): Validate | undefined;
}

export function pascalCase(operationId: string): string {
  return operationId.charAt(0).toUpperCase() + operationId.slice(1);
}

/** Validates with an exported zod schema. */
export function zodSchema(exported: object, name: string): Validate | undefined {
  const schema = (exported as Record<string, ZodSchema | undefined>)[name];
  return (
    schema &&
    ((value) => (schema.safeParse(value).error?.issues ?? []).map((issue) => JSON.stringify(issue)))
  );
}

interface ZodSchema {
  safeParse(value: unknown): { error?: { issues: unknown[] } };
}
