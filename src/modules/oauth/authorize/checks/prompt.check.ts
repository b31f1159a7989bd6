import { InteractionRequired, InvalidRequest } from '../../oauth.errors.js';
import type { Parameters } from '../../parameters.js';
import type { AuthorizationRequest, AuthorizeCheck } from '../authorization-request.js';

/** Values of `prompt` that are understood (OpenID Connect Core §3.1.2.1, by analogy). */
export const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];

/** `prompt` holds known values, and not `none`: the user always decides, so nothing can be answered without asking. */
export const checkPrompt: AuthorizeCheck = ({ parameters }) => {
  const prompts = promptsOf(parameters);
  if (prompts.includes('none')) {
    if (prompts.length > 1) throw new InvalidRequest('prompt may not hold none and more.');
    throw new InteractionRequired();
  }
  if (!prompts.every((prompt) => PROMPTS.includes(prompt)))
    throw new InvalidRequest(`prompt may hold only: ${PROMPTS.join(' ')}.`);
};

/** What asks the user to sign in even with a session: again, or as somebody else. */
export function signInPromptOf(parameters: Parameters): AuthorizationRequest['signInPrompt'] {
  const prompts = promptsOf(parameters);
  return (['login', 'select_account'] as const).find((prompt) => prompts.includes(prompt)) ?? null;
}

function promptsOf(parameters: Parameters): string[] {
  return (parameters.get('prompt') ?? '').split(' ').filter((prompt) => prompt !== '');
}
