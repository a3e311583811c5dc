/** Names by the text that was given for them in this process: none of it may be recorded, whichever run it is of. */
const given = new Map<string, string>();

/** From now on nothing that holds the text is recorded. */
export function keepUnrecorded(name: string, text: string): void {
  given.set(text, name);
}

/** The secret that a text holds, by its name. */
export function secretIn(text: string): string | undefined {
  for (const [secret, name] of given) if (text.includes(secret)) return name;
  return undefined;
}

/** A text that may be recorded: one that holds a secret says so instead. */
export function withoutSecrets(text: string): string {
  const name = secretIn(text);
  return name === undefined ? text : `(not recorded: it holds the secret ${name})`;
}

/** Where in a value a secret stands, as `$.a[3].b`. `text`: the value's own JSON text. */
export function secretAt(
  text: string,
  value: () => unknown,
): { readonly path: string; readonly name: string } | undefined {
  for (const [secret, name] of given) {
    // As JSON text has it; most texts have nothing like it, and are not looked into.
    if (!text.includes(JSON.stringify(secret).slice(1, -1))) continue;
    const path = pathOf(value(), (part) => part.includes(secret), '$');
    if (path !== undefined) return { path, name };
  }
  return undefined;
}

function pathOf(value: unknown, holds: (text: string) => boolean, path: string): string | undefined {
  if (typeof value === 'string') return holds(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const found = Array.isArray(value)
      ? pathOf(part, holds, `${path}[${key}]`)
      : holds(key)
        ? `${path} (a name in it)`
        : pathOf(part, holds, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
