import { type GenericSchema, safeParse } from 'valibot';
import { createClient } from '../generated/hey-api/client/index.ts';
import { createPost, getMe, listPosts } from '../generated/hey-api/sdk.gen.ts';
import * as valibot from '../generated/hey-api/valibot.gen.ts';
import * as zod from '../generated/hey-api/zod.gen.ts';
import {
  type Outcome,
  pascalCase,
  POST,
  type Service,
  TOO_LONG,
  type Validate,
  type Validators,
  zodSchema,
} from './client.ts';

export async function run({ baseUrl, token }: Service): Promise<Outcome> {
  const client = createClient({ baseUrl, auth: token });
  const anonymous = createClient({ baseUrl, auth: 'wrong' });
  const me = await getMe({ client });
  const created = await createPost({ client, body: POST });
  const listed = await listPosts({ client, query: { limit: 5 } });
  const unauthorized = await getMe({ client: anonymous });
  const invalid = await createPost({ client, body: TOO_LONG });
  return {
    user: me.data?.name ?? '',
    created: created.data?.id ?? '',
    listed: listed.data?.data.map(({ id }) => id) ?? [],
    unauthorized: unauthorized.error?.error ?? '',
    invalidFields: invalid.error?.errors?.map(({ field }) => field) ?? [],
  };
}

/** Responses of other statuses than 2xx have no schema. */
export const validators: Record<string, Validators> = {
  zod: {
    body: (operationId) => zodSchema(zod, `z${pascalCase(operationId)}Body`),
    response: (operationId, status) =>
      status.startsWith('2') ? zodSchema(zod, `z${pascalCase(operationId)}Response`) : undefined,
  },
  valibot: {
    body: (operationId) => valibotSchema(`v${pascalCase(operationId)}Body`),
    response: (operationId, status) =>
      status.startsWith('2') ? valibotSchema(`v${pascalCase(operationId)}Response`) : undefined,
  },
};

function valibotSchema(name: string): Validate | undefined {
  const schema = (valibot as Record<string, GenericSchema | undefined>)[name];
  return (
    schema && ((value) => safeParse(schema, value).issues?.map(({ message }) => message) ?? [])
  );
}
