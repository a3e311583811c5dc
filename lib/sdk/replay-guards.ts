/**
 * Makes a process silent: sockets, name look-ups, child processes, signals, threads and file writes throw; the clock
 * and randomness still work and are noted once watching has begun. A guard against mistakes, not a sandbox. It is sent
 * to the child process as text, so it uses nothing from outside of itself.
 */
export function installGuards(): void {
  const builtin = (name: string) => process.getBuiltinModule(name) as unknown as Record<string, unknown>;
  const keep = globalThis as unknown as Record<symbol, unknown>;
  const notices = new Set<string>();
  const watch = { on: false, notices };
  keep[Symbol.for('rerail.watch')] = watch;
  keep[Symbol.for('rerail.originals')] = {
    now: Date.now.bind(Date),
    mono: performance.now.bind(performance),
    random: Math.random.bind(Math),
    uuid: crypto.randomUUID.bind(crypto),
  };
  const refuse = (what: string) =>
    function refused(): never {
      const error = new Error(`a replay touches nothing outside: ${what}`);
      error.name = 'ReplayGuard';
      throw error;
    };
  /** What this version of Node lacks needs no guard. */
  const forbid = (target: Record<string, unknown> | undefined, label: string, names: readonly string[]) => {
    for (const name of names)
      if (typeof target?.[name] === 'function') target[name] = refuse(`${label}.${name}`);
  };
  const note = <Fn extends (...args: never[]) => unknown>(fn: Fn, what: string): Fn =>
    new Proxy(fn, {
      apply(target, self, args) {
        if (watch.on) notices.add(`code uses ${what} instead of the context's`);
        return Reflect.apply(target, self, args) as unknown;
      },
    });

  // What a process says about itself stays: streams that are made now keep the writes that they were made with.
  void process.stdout;
  void process.stderr;

  const prototypeOf = (module: string, name: string) =>
    (builtin(module)[name] as { readonly prototype: Record<string, unknown> }).prototype;
  forbid(prototypeOf('net', 'Socket'), 'net.Socket', ['connect']);
  forbid(prototypeOf('net', 'Server'), 'net.Server', ['listen']);
  forbid(builtin('net'), 'net', ['connect', 'createConnection']);
  forbid(builtin('tls'), 'tls', ['connect']);
  forbid(builtin('http'), 'http', ['request', 'get']);
  forbid(builtin('https'), 'https', ['request', 'get']);
  forbid(builtin('http2'), 'http2', ['connect']);
  forbid(prototypeOf('dgram', 'Socket'), 'dgram.Socket', ['send', 'bind', 'connect']);
  forbid(builtin('dgram'), 'dgram', ['createSocket']);
  const queries = (target: Record<string, unknown>) =>
    Object.getOwnPropertyNames(target).filter((name) => /^(lookup|resolve|reverse)/.test(name));
  for (const module of ['dns', 'dns/promises']) {
    forbid(builtin(module), module, queries(builtin(module)));
    const resolver = prototypeOf(module, 'Resolver');
    forbid(resolver, `${module}.Resolver`, queries(resolver));
  }
  forbid(globalThis as unknown as Record<string, unknown>, 'globalThis', [
    'fetch',
    'WebSocket',
    'EventSource',
  ]);
  forbid(builtin('child_process'), 'child_process', [
    'spawn',
    'exec',
    'execFile',
    'fork',
    'spawnSync',
    'execSync',
    'execFileSync',
  ]);
  forbid(prototypeOf('child_process', 'ChildProcess'), 'child_process.ChildProcess', ['spawn']);
  forbid(process as unknown as Record<string, unknown>, 'process', ['kill', 'chdir', 'execve']);
  forbid(process.report as unknown as Record<string, unknown>, 'process.report', ['writeReport']);
  forbid(builtin('v8'), 'v8', ['writeHeapSnapshot', 'setHeapSnapshotNearHeapLimit']);
  for (const module of ['inspector', 'inspector/promises']) forbid(builtin(module), module, ['open']);
  forbid(withoutWarning('node:sqlite'), 'node:sqlite', ['DatabaseSync', 'backup']);
  forbid(builtin('worker_threads'), 'worker_threads', ['Worker']);
  const writes = [
    'writeFile',
    'appendFile',
    'mkdir',
    'mkdtemp',
    'rm',
    'rmdir',
    'unlink',
    'rename',
    'copyFile',
    'cp',
    'truncate',
    'ftruncate',
    'symlink',
    'link',
    'chmod',
    'chown',
    'utimes',
    'fchmod',
    'fchown',
    'futimes',
    'lchmod',
    'lchown',
    'lutimes',
    'write',
    'writev',
  ];
  forbid(builtin('fs'), 'fs', [
    ...writes,
    ...writes.map((name) => `${name}Sync`),
    'createWriteStream',
    'WriteStream',
  ]);
  forbid(builtin('fs/promises'), 'fs/promises', writes);
  guardOpen(builtin('fs'), 'open');
  guardOpen(builtin('fs'), 'openSync');
  guardOpen(builtin('fs/promises'), 'open');
  guardHandles(builtin('fs/promises'));

  /** A module that Node calls experimental is guarded whether or not the agent uses it. */
  function withoutWarning(module: string): Record<string, unknown> | undefined {
    const { emitWarning } = process;
    process.emitWarning = () => undefined;
    try {
      return builtin(module);
    } finally {
      process.emitWarning = emitWarning;
    }
  }

  /** A handle that was opened for reading still changes what its file is. */
  function guardHandles(target: Record<string, unknown>): void {
    const open = target['open'] as (...args: unknown[]) => Promise<Record<string, unknown>>;
    target['open'] = async (...args: unknown[]) => {
      const handle = await open(...args);
      forbid(handle, 'fs/promises.FileHandle', ['chmod', 'chown', 'utimes']);
      return handle;
    };
  }

  function guardOpen(target: Record<string, unknown>, name: string): void {
    const open = target[name] as (...args: unknown[]) => unknown;
    target[name] = function opened(this: unknown, ...args: unknown[]) {
      const flags = args[1];
      const reads =
        flags === undefined || typeof flags === 'function' || flags === 'r' || flags === 'rs' || flags === 0;
      return reads ? open.apply(this, args) : refuse(`fs.${name} for writing`)();
    };
  }

  Date.now = note(Date.now, 'Date.now');
  Math.random = note(Math.random, 'Math.random');
  performance.now = note(performance.now.bind(performance), 'performance.now');
  const hrtime = process.hrtime;
  process.hrtime = Object.assign(note(hrtime.bind(process), 'process.hrtime'), {
    bigint: note(hrtime.bigint.bind(process), 'process.hrtime.bigint'),
  });
  globalThis.Date = new Proxy(Date, {
    construct(target, args, self) {
      if (args.length === 0 && watch.on) notices.add("code uses new Date() instead of the context's now()");
      return Reflect.construct(target, args, self) as object;
    },
    apply(target, self, args) {
      if (watch.on) notices.add("code uses Date() instead of the context's now()");
      return Reflect.apply(target, self, args) as string;
    },
  });
  const cryptos = builtin('crypto');
  for (const name of [
    'randomUUID',
    'randomBytes',
    'randomInt',
    'randomFill',
    'randomFillSync',
    'generateKey',
    'generateKeySync',
    'generateKeyPair',
    'generateKeyPairSync',
  ]) {
    cryptos[name] = note(cryptos[name] as (...args: never[]) => unknown, `crypto.${name}`);
  }
  crypto.getRandomValues = note(crypto.getRandomValues.bind(crypto), 'crypto.getRandomValues');
  crypto.randomUUID = note(crypto.randomUUID.bind(crypto), 'crypto.randomUUID');
  crypto.subtle.generateKey = note(
    crypto.subtle.generateKey.bind(crypto.subtle),
    'crypto.subtle.generateKey',
  );
  (
    process.getBuiltinModule('module') as unknown as { readonly syncBuiltinESMExports: () => void }
  ).syncBuiltinESMExports();
}
