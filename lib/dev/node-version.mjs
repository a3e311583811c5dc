/*
 * Runs before anything else and on any Node that knows modules (12.20 and later), so that an old one says what is
 * wrong instead of showing a syntax error: no syntax newer than ES2018 here and in the files that import it statically.
 */

/** The range of package.json's `engines`: `^20.19 || ^22.12 || >=24`. */
export function isSupported(version) {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  const major = parts[0];
  const minor = parts[1];
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
}

/** Ends the process with a message where this Node or this platform cannot run Rerail. */
export function requireSupportedNode() {
  if (process.platform === 'win32') {
    console.error('Rerail runs on Linux and macOS. On Windows, run it inside WSL2 (https://aka.ms/wsl).');
    process.exit(1);
  }
  if (!isSupported(process.version)) {
    console.error(
      'Rerail needs Node 20.19 or later in the 20 line, 22.12 or later in the 22 line, or 24 and above.\n' +
        'This is Node ' +
        process.version +
        ' (' +
        process.execPath +
        ').\n' +
        'Install a supported one, for instance with `nvm install 22` or from https://nodejs.org, then run the command again.',
    );
    process.exit(1);
  }
}
