/** A text as one word of a POSIX shell, whatever it holds. A shell cannot hold U+0000: that is said by `undefined`. */
export function shellWord(text: string): string | undefined {
  if (text.includes('\0')) return undefined;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Set by whoever runs the line; its value is never written down here. */
const TOKEN_HEADER = '"authorization: Bearer $RERAIL_TOKEN"';

/** The line that asks the API the same with curl. `url` is whole: percent-encoded, so that any shell can hold it. */
export function curlLine(url: string, { token }: { readonly token: boolean }): string {
  // An address that came through `URL` holds no U+0000.
  const word = shellWord(new URL(url).href) ?? '';
  return ['curl -sS', ...(token ? [`-H ${TOKEN_HEADER}`] : []), word].join(' ');
}

/** The same as a file: what curl gets goes there. */
export const curlToFile = (url: string, name: string, token: { readonly token: boolean }): string =>
  `${curlLine(url, token)} -o ${shellWord(name) ?? 'run'}`;
