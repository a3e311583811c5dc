import { createServer } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';
import { startChild } from './child.mjs';
import { inRoot, root } from './paths.mjs';
import { PrepareError, prepare } from './prepare.mjs';

const HOST = '127.0.0.1';

/** The asked port, or an end with a message. 0 lets the system choose. */
function portFrom(text) {
  const port = Number(text ?? 3000);
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
  console.error(
    code === 'EADDRINUSE'
      ? `Port ${port} on ${HOST} is in use. Stop what listens there (lsof -i :${port} names it), or choose another: PORT=${port + 1} npm start`
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

const dataDir = () => {
  const given = process.env.RERAIL_DATA_DIR ?? 'data';
  return isAbsolute(given) ? given : resolve(root, given);
};

/** `npm start`: prepares what is missing, then runs the console (and the demo) until it is told to stop. */
export async function startConsole(args) {
  const unknown = args.filter((arg) => arg !== '--no-demo');
  if (unknown.length > 0) {
    console.error(`Unknown option ${unknown[0]}. Usage: npm start [-- --no-demo]`);
    process.exit(1);
  }
  const withDemo = !args.includes('--no-demo');
  const port = portFrom(process.env.PORT);
  const taken = port === 0 ? undefined : await whyNotFree(port);
  if (taken !== undefined) endOverPort(port, taken);
  await prepare().catch(endOverPreparation);
  await serve(port, withDemo);
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

async function serve(port, withDemo) {
  const data = dataDir();
  const running = [];
  let stopping;
  const stop = (code) => {
    stopping ??= (async () => {
      // The demo first, so that its worker can hand its runs over to a console that still listens.
      for (const child of [...running].reverse()) await child.stop();
      process.exit(code);
    })();
    return stopping;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0));
  if (process.env.npm_lifecycle_event !== undefined) whenParentIsGone(() => stop(0));

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
  running.push(server);
  void server.ended.then((code) => endOver('The console', code, server));
  const url = await listening;

  if (withDemo) {
    const demo = startChild(inRoot('.rerail/demo/supervisor.mjs'), {
      env: { RERAIL_CONSOLE_URL: url, RERAIL_DATA_DIR: data },
      logFile: join(data, 'logs', 'demo.log'),
    });
    running.push(demo);
    void demo.ended.then((code) => endOver('The demo', code, demo));
  }
  console.log(
    `Rerail is at ${url}${withDemo ? ' with its demo' : ''} (Ctrl-C stops it, logs are in ${join(data, 'logs')})`,
  );

  function endOver(what, code, child) {
    if (stopping !== undefined) return;
    console.error(`${child.tail()}\n${what} ended by itself (${code}).`);
    stop(1);
  }
}
