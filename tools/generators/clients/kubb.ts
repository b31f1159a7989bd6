import { createPost } from '../generated/kubb/clients/createPost.ts';
import { getMe } from '../generated/kubb/clients/getMe.ts';
import { listPosts } from '../generated/kubb/clients/listPosts.ts';
import * as zod from '../generated/kubb/index.ts';
import {
  type Outcome,
  POST,
  type Service,
  TOO_LONG,
  type Validators,
  zodSchema,
} from './client.ts';

/** The fetch client of kubb sends no `Content-Type` of its own, and types the body of an error like that of a success. */
export async function run({ baseUrl, token }: Service): Promise<Outcome> {
  const authorized = { baseURL: baseUrl, headers: { authorization: `Bearer ${token}` } };
  const json = {
    ...authorized,
    headers: { ...authorized.headers, 'content-type': 'application/json' },
  };
  const wrong = { baseURL: baseUrl, headers: { authorization: 'Bearer wrong' } };
  const me = await getMe(undefined, authorized);
  const created = await createPost(POST, undefined, json);
  const listed = await listPosts({ limit: 5 }, undefined, authorized);
  const unauthorized = await getMe(undefined, wrong);
  const invalid = await createPost(TOO_LONG, undefined, json);
  return {
    user: me.data.name,
    created: created.data.id,
    listed: listed.data.data.map(({ id }) => id),
    unauthorized: zod.getMe401Schema.parse(unauthorized.data).error,
    invalidFields:
      zod.createPost400Schema.parse(invalid.data).errors?.map(({ field }) => field) ?? [],
  };
}

export const validators: Record<string, Validators> = {
  zod: {
    body: (operationId) => zodSchema(zod, `${operationId}MutationRequestSchema`),
    response: (operationId, status) => zodSchema(zod, `${operationId}${status}Schema`),
  },
};
