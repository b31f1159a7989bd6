import {
  Api,
  type Error as ApiError,
  type HttpResponse,
} from '../generated/swagger-typescript-api/api.ts';
import { type Outcome, POST, type Service, TOO_LONG, type Validators } from './client.ts';

export async function run({ baseUrl, token }: Service): Promise<Outcome> {
  const api = new Api<string>({
    baseUrl,
    securityWorker: (secret) => ({ headers: { authorization: `Bearer ${secret ?? ''}` } }),
  });
  api.setSecurityData(token);
  const me = await api.dev.getMe();
  const created = await api.dev.createPost(POST);
  const listed = await api.dev.listPosts({ limit: 5 });
  const invalid = await errorOf(api.dev.createPost(TOO_LONG));
  api.setSecurityData('wrong');
  const unauthorized = await errorOf(api.dev.getMe());
  return {
    user: me.data.name,
    created: created.data.id,
    listed: listed.data.data.map(({ id }) => id),
    unauthorized: unauthorized.error,
    invalidFields: invalid.errors?.map(({ field }) => field) ?? [],
  };
}

/** The client throws the response of a failed call. */
async function errorOf(call: Promise<unknown>): Promise<ApiError> {
  return call.then(
    () => Promise.reject(new Error('The call did not fail.')),
    ({ error }: HttpResponse<unknown, ApiError>) => error,
  );
}

/** Its output has types, but no validators. */
export const validators: Record<string, Validators> = {};
