/** The members of an object, or of the items of a list, and the members of their values. */
interface Members {
  isList: boolean;
  /** Whether other members may follow (`…`). */
  isOpen: boolean;
  members: ReadonlyMap<string, { isOptional: boolean; value?: Members }>;
}

/**
 * Compares a JSON result with the declaration of its command (`CliCommand.printsJson`), or with the alternatives in it.
 * @returns a sentence for each difference from the best alternative
 */
export function memberDifferences(declaration: string, result: unknown): string[] {
  const alternatives = declaration.split(', else ').map(parse);
  const differences = alternatives.map((members) => differencesOf('the result', members, result));
  return differences.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

/** Parses text such as `[{id, apps: [{name}], reason?}]`. Ignores text after the last bracket. */
function parse(declaration: string): Members {
  const tokens = declaration.match(/[[\]{}:,?…]|\w+/g) ?? [];
  const next = (): string => tokens.shift() ?? '';
  const accept = (token: string): boolean => tokens[0] === token && next() === token;
  const value = (): Members => {
    const isList = accept('[');
    const members: [string, { isOptional: boolean; value?: Members }][] = [];
    let isOpen = false;
    if (!accept('{')) throw new Error(`"${declaration}" is not a declaration of members.`);
    while (!accept('}')) {
      if (accept('…')) isOpen = true;
      else
        members.push([
          next(),
          { isOptional: accept('?'), value: accept(':') ? value() : undefined },
        ]);
      accept(',');
      if (tokens.length === 0) throw new Error(`"${declaration}" lacks a bracket.`);
    }
    if (isList && !accept(']')) throw new Error(`"${declaration}" lacks a bracket.`);
    return { isList, isOpen, members: new Map(members) };
  };
  return value();
}

function differencesOf(path: string, declared: Members, result: unknown): string[] {
  if (declared.isList !== Array.isArray(result))
    return [`${path} is ${declared.isList ? 'not ' : ''}a list`];
  if (Array.isArray(result))
    return result.flatMap((item) => differencesOf(path, { ...declared, isList: false }, item));
  if (!isObject(result)) return [`${path} is not an object`];
  const missing = [...declared.members]
    .filter(([name, { isOptional }]) => !isOptional && !(name in result))
    .map(([name]) => `${path} lacks ${name}`);
  const wrong = Object.entries(result).flatMap(([name, value]) => {
    const member = declared.members.get(name);
    if (!member) return declared.isOpen ? [] : [`${path} has ${name}`];
    if (member.value) return differencesOf(name, member.value, value);
    return [value].flat().some(isObject) ? [`the members of ${name} are not declared`] : [];
  });
  return [...missing, ...wrong];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
