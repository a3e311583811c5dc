import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';
import { startChild } from './child.mjs';
import { inRoot, root } from './paths.mjs';
import { PrepareError, prepare } from './prepare.mjs';
import { stopCommands } from './run-command.mjs';

/** Beyond loopback the console itself asks for a token. `HOST=` means "not set". */
const HOST = process.env.HOST || '127.0.0.1';

/** The asked port, or an end with a message. 0 lets the system choose; `PORT=` means "not set", as shells write it. */
function portFrom(text) {
  const port = Number(text || 3000);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  console.error(
    `PORT=${text} is no port: give a whole number from 0 to 65535, for instance PORT=3001 npm start`,
  );
  return process.exit(1);
}

/** Why nothing can listen there, or undefined. */
const whyNotFree = (port) =>
  new Promise((answer) => {
    const probe = createServer();
    probe.once('error', (error) => answer(error.code));
    probe.listen(port, HOST, () => probe.close(() => answer(undefined)));
  });

function endOverPort(port, code) {
  const other = port < 65_535 ? port + 1 : 3001;
  console.error(
    code === 'EADDRINUSE'
      ? `Port ${port} on ${HOST} is in use. Stop what listens there (lsof -i :${port} names it), or choose another: PORT=${other} npm start`
      : `Port ${port} on ${HOST} cannot be opened (${code}). Choose another: PORT=3001 npm start`,
  );
  process.exit(1);
}

function endOverPreparation(error) {
  if (!(error instanceof PrepareError)) throw error;
  if (error.output !== '') console.error(error.output.slice(-6_000));
  console.error(error.message);
  process.exit(1);
}

/** The data folder with room for the logs, or an end with a message. */
function openDataDir() {
  const given = process.env.RERAIL_DATA_DIR || 'data';
  const path = isAbsolute(given) ? given : resolve(root, given);
  try {
    mkdirSync(join(path, 'logs'), { recursive: true });
    return path;
  } catch (error) {
    console.error(
      `The data folder cannot be used (${error.message}). Give another one: RERAIL_DATA_DIR=/some/folder npm start`,
    );
    return process.exit(1);
  }
}

/** `npm start`: prepares what is missing, then runs the console (and the demo) until it is told to stop. */
export async function startConsole(args) {
  const unknown = args.filter((arg) => arg !== '--no-demo');
  if (unknown.length > 0) {
    console.error(`Unknown option ${unknown[0]}. Usage: npm start [-- --no-demo]`);
    process.exit(1);
  }
  const withDemo = !args.includes('--no-demo');
  const all = stopsTogether();
  const port = portFrom(process.env.PORT);
  const taken = port === 0 ? undefined : await whyNotFree(port);
  if (taken !== undefined) endOverPort(port, taken);
  const data = openDataDir();
  await prepare().catch((error) => all.stopping ?? endOverPreparation(error));
  if (all.stopping !== undefined) return;
  await serve(all, port, data, withDemo);
}

/** npm runs us through a shell: a SIGTERM or SIGKILL of npm ends the shell and does not reach us. */
function whenParentIsGone(then) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    then();
  }, 250);
}

/** All that runs for us. It ends together, in order, when we are told to stop: at any moment, so also while we prepare. */
function stopsTogether() {
  const children = [];
  const all = {
    /** Set from the moment when it ends; never settles, since this process ends with it. */
    stopping: undefined,
    add: (child) => children.push(child),
    stop: (code) => {
      all.stopping ??= (async () => {
        await stopCommands();
        // The demo first, so that its worker can hand its runs over to a console that still listens.
        for (const child of [...children].reverse()) await child.stop();
        process.exit(code);
      })();
      return all.stopping;
    },
  };
  // Cut short in its preparation, it did not do what it was asked for: 130, as a shell tells an end by Ctrl-C.
  const asked = () => all.stop(children.length === 0 ? 130 : 0);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, asked);
  if (process.env.npm_lifecycle_event !== undefined) whenParentIsGone(asked);
  return all;
}

async function serve(all, port, data, withDemo) {
  let heard;
  const listening = new Promise((resolveUrl) => {
    heard = resolveUrl;
  });
  const server = startChild(inRoot('.rerail/server/main.mjs'), {
    env: {
      HOST,
      PORT: String(port),
      NODE_ENV: 'production',
      RERAIL_DATA_DIR: data,
      ...(process.env.DATABASE_URL ? {} : { DATABASE_URL: `file:${join(data, 'rerail.db')}` }),
    },
    logFile: join(data, 'logs', 'console.log'),
    onLine: (line) => {
      const url = /^rerail: (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) heard(url);
    },
  });
  all.add(server);
  void server.ended.then((code) => endOver('The console', code, server));
  const url = await listening;
  if (all.stopping !== undefined) return;

  if (withDemo) {
    const demo = startChild(inRoot('.rerail/demo/supervisor.mjs'), {
      env: { RERAIL_CONSOLE_URL: url, RERAIL_DATA_DIR: data },
      logFile: join(data, 'logs', 'demo.log'),
      onLine: (line) => {
        if (line.startsWith('demo: ')) console.log(line);
      },
    });
    all.add(demo);
    void demo.ended.then((code) => endOver('The demo', code, demo));
  }
  console.log(
    `Rerail is at ${url}${withDemo ? ' with its demo' : ''} (Ctrl-C stops it, logs are in ${join(data, 'logs')})`,
  );

  function endOver(what, code, child) {
    if (all.stopping !== undefined) return;
    console.error(`${child.tail()}\n${what} ended by itself (${code}).`);
    all.stop(1);
  }
}
