import { createPost, getMe, listPosts } from '../generated/orval/client.ts';
import * as zod from '../generated/orval/zod.ts';
import {
  type Outcome,
  pascalCase,
  POST,
  type Service,
  TOO_LONG,
  type Validators,
  zodSchema,
} from './client.ts';

/** The URL of the service is in the generated code, from `servers` of the document. */
export async function run({ token }: Service): Promise<Outcome> {
  const authorized = { headers: { authorization: `Bearer ${token}` } };
  const me = await getMe(authorized);
  const created = await createPost(POST, authorized);
  const listed = await listPosts({ limit: 5 }, authorized);
  const unauthorized = await getMe({ headers: { authorization: 'Bearer wrong' } });
  const invalid = await createPost(TOO_LONG, authorized);
  return {
    user: me.status === 200 ? me.data.name : '',
    created: created.status === 201 ? created.data.id : '',
    listed: listed.status === 200 ? listed.data.data.map(({ id }) => id) : [],
    unauthorized: unauthorized.status === 401 ? unauthorized.data.error : '',
    invalidFields:
      invalid.status === 400 ? (invalid.data.errors?.map(({ field }) => field) ?? []) : [],
  };
}

export const validators: Record<string, Validators> = {
  zod: {
    body: (operationId) => zodSchema(zod, `${pascalCase(operationId)}Body`),
    response: (operationId, status) =>
      zodSchema(zod, `${pascalCase(operationId)}${status}Response`),
  },
};
