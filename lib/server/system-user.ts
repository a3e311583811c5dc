import { userInfo } from 'node:os';

/** The operating system's user: who gives orders where nobody has to sign in. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // An uid without an entry in the user database, as containers have.
    return 'operator';
  }
}
