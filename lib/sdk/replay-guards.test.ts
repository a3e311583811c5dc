import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '@/lib/testing/sdk-commands';
import { installGuards } from './replay-guards';

/** Every way out that is guarded, as code of an agent's module would take it. `file` is a path in an own folder. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  'net.connect': `net.connect(9)`,
  'net.createConnection': `net.createConnection(9)`,
  'net.Socket.connect': `new net.Socket().connect(9)`,
  'net.Server.listen': `net.createServer().listen(0)`,
  'tls.connect': `tls.connect(9)`,
  'http.request': `http.request('http://127.0.0.1:9')`,
  'http.get': `http.get('http://127.0.0.1:9')`,
  'http.Server.listen': `http.createServer().listen(0)`,
  'https.request': `https.request('https://127.0.0.1:9')`,
  'https.get': `https.get('https://127.0.0.1:9')`,
  'http2.connect': `http2.connect('http://127.0.0.1:9')`,
  'dgram.createSocket': `dgram.createSocket('udp4')`,
  'dgram.Socket.send': `new dgram.Socket('udp4').send('x', 9, '127.0.0.1')`,
  'dgram.Socket.bind': `new dgram.Socket('udp4').bind(0)`,
  'dns.lookup': `dns.lookup('localhost', () => {})`,
  'dns.resolve': `dns.resolve('localhost', () => {})`,
  'dns.Resolver': `new dns.Resolver().resolve4('localhost', () => {})`,
  'dns/promises.lookup': `dnsPromises.lookup('localhost')`,
  fetch: `fetch('http://127.0.0.1:9')`,
  WebSocket: `new (globalThis.WebSocket ?? fetch)('ws://127.0.0.1:9')`,
  'child_process.spawn': `spawn('true')`,
  'child_process.exec': `child_process.exec('true')`,
  'child_process.execFile': `child_process.execFile('true')`,
  'child_process.fork': `child_process.fork(file)`,
  'child_process.spawnSync': `child_process.spawnSync('true')`,
  'child_process.execSync': `child_process.execSync('true')`,
  'child_process.execFileSync': `child_process.execFileSync('true')`,
  'child_process.ChildProcess': `new child_process.ChildProcess().spawn({ file: 'true', args: ['true'] })`,
  'cluster.fork': `cluster.fork()`,
  'process.kill': `process.kill(process.pid, 0)`,
  'process.chdir': `process.chdir(folder)`,
  'process.execve': `(process.execve ?? process.kill).call(process, process.pid, 0)`,
  'process.report.writeReport': `process.report.writeReport(file)`,
  'v8.writeHeapSnapshot': `v8.writeHeapSnapshot(file)`,
  'v8.setHeapSnapshotNearHeapLimit': `v8.setHeapSnapshotNearHeapLimit(1)`,
  'inspector.open': `inspector.open(0)`,
  'inspector/promises.open': `inspectorPromises.open(0)`,
  'node:sqlite': `new (process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? worker_threads.Worker)(file)`,
  'worker_threads.Worker': `new worker_threads.Worker('0', { eval: true })`,
  'fs.writeFile': `fs.writeFile(file, 'x', () => {})`,
  'fs.writeFileSync': `writeFileSync(file, 'x')`,
  'fs.appendFile': `fs.appendFile(file, 'x', () => {})`,
  'fs.appendFileSync': `fs.appendFileSync(file, 'x')`,
  'fs.createWriteStream': `fs.createWriteStream(file)`,
  'fs.WriteStream': `new fs.WriteStream(file)`,
  'fs.open for writing': `fs.open(file, 'w', () => {})`,
  'fs.openSync for appending': `fs.openSync(file, 'a')`,
  'fs.openSync for reading and writing': `fs.openSync(seen, 'r+')`,
  'fs.writeSync': `fs.writeSync(fs.openSync(seen), 'x')`,
  'fs.mkdirSync': `fs.mkdirSync(file)`,
  'fs.mkdtempSync': `fs.mkdtempSync(file)`,
  'fs.rmSync': `fs.rmSync(seen)`,
  'fs.rmdirSync': `fs.rmdirSync(folder)`,
  'fs.unlinkSync': `fs.unlinkSync(seen)`,
  'fs.renameSync': `fs.renameSync(seen, file)`,
  'fs.copyFileSync': `fs.copyFileSync(seen, file)`,
  'fs.cpSync': `fs.cpSync(seen, file)`,
  'fs.truncateSync': `fs.truncateSync(seen)`,
  'fs.symlinkSync': `fs.symlinkSync(seen, file)`,
  'fs.linkSync': `fs.linkSync(seen, file)`,
  'fs.chmodSync': `fs.chmodSync(seen, 0o600)`,
  'fs.lutimesSync': `fs.lutimesSync(seen, 1, 1)`,
  'fs.utimesSync': `fs.utimesSync(seen, 1, 1)`,
  'fs.promises.writeFile': `fs.promises.writeFile(file, 'x')`,
  'fs/promises.writeFile': `fsPromises.writeFile(file, 'x')`,
  'fs/promises.open for writing': `fsPromises.open(file, 'w')`,
  'fs/promises.FileHandle.chmod': `onHandle((handle) => handle.chmod(0o600))`,
  'fs/promises.FileHandle.chown': `onHandle((handle) => handle.chown(process.getuid(), process.getgid()))`,
  'fs/promises.FileHandle.utimes': `onHandle((handle) => handle.utimes(1, 1))`,
  'fs.fchmodSync': `fs.fchmodSync(fs.openSync(seen), 0o600)`,
  'fs.futimesSync': `fs.futimesSync(fs.openSync(seen), 1, 1)`,
  'fs/promises.rm': `fsPromises.rm(seen)`,
  'fs/promises.mkdir': `fsPromises.mkdir(file)`,
};

/** What still works and is told. */
const NOTED: Readonly<Record<string, string>> = {
  'Date.now': `Date.now()`,
  'new Date()': `new Date()`,
  'Date()': `Date()`,
  'Math.random': `Math.random()`,
  'performance.now': `performance.now()`,
  'process.hrtime': `process.hrtime()`,
  'process.hrtime.bigint': `process.hrtime.bigint()`,
  'crypto.randomUUID': `crypto.randomUUID()`,
  'crypto.getRandomValues': `crypto.getRandomValues(new Uint8Array(4))`,
  'node:crypto randomUUID': `nodeCrypto.randomUUID()`,
  'node:crypto randomBytes': `randomBytes(4)`,
  'node:crypto randomInt': `nodeCrypto.randomInt(4)`,
  'node:crypto randomFillSync': `nodeCrypto.randomFillSync(new Uint8Array(4))`,
  'node:crypto randomFill': `promisify(nodeCrypto.randomFill)(new Uint8Array(4))`,
  'node:crypto generateKeySync': `nodeCrypto.generateKeySync('hmac', { length: 64 })`,
  'node:crypto generateKey': `promisify(nodeCrypto.generateKey)('hmac', { length: 64 })`,
  'node:crypto generateKeyPairSync': `nodeCrypto.generateKeyPairSync('ed25519')`,
  'node:crypto generateKeyPair': `promisify(nodeCrypto.generateKeyPair)('ed25519').then(({ privateKey }) => privateKey.type)`,
  'crypto.subtle.generateKey': `crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt'])`,
};

/** What a replay may do, unnoticed: reading files, dates that are given, hashes, timers. */
const ALLOWED: Readonly<Record<string, string>> = {
  'fs.readFileSync': `fs.readFileSync(seen, 'utf8')`,
  'fs.openSync for reading': `fs.closeSync(fs.openSync(seen))`,
  'fs/promises.open for reading': `onHandle((handle) => handle.readFile('utf8'))`,
  'fs/promises.readFile': `fsPromises.readFile(seen)`,
  'new Date(0)': `new Date(0)`,
  'Date.UTC': `Date.UTC(2020, 1)`,
  createHash: `nodeCrypto.createHash('sha256').update('x').digest('hex')`,
};

let folder: string;
/** What each attempt gave: `ReplayGuard`, another error's name, or `done`; and what was told of it. */
let gave: Readonly<Record<string, { readonly end: string; readonly told: readonly string[] }>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rerail-guards-'));
  await writeFile(join(folder, 'seen'), 'seen');
  const attempts = Object.entries({ ...FORBIDDEN, ...NOTED, ...ALLOWED });
  // As the replay's child: guards first, then a module that imports by name what it uses.
  await writeFile(
    join(folder, 'agent.mjs'),
    `
    import net from 'node:net'; import tls from 'node:tls'; import http from 'node:http'; import https from 'node:https';
    import http2 from 'node:http2'; import dgram from 'node:dgram'; import dns from 'node:dns';
    import dnsPromises from 'node:dns/promises'; import child_process, { spawn } from 'node:child_process';
    import cluster from 'node:cluster'; import worker_threads from 'node:worker_threads';
    import fs, { writeFileSync } from 'node:fs'; import fsPromises from 'node:fs/promises';
    import nodeCrypto, { randomBytes } from 'node:crypto';
    import inspector from 'node:inspector'; import inspectorPromises from 'node:inspector/promises';
    import v8 from 'node:v8'; import { promisify } from 'node:util';
    const onHandle = async (act) => {
      const handle = await fsPromises.open(seen);
      try { return await act(handle); } finally { await handle.close(); }
    };
    const folder = ${JSON.stringify(folder)}, file = folder + '/made', seen = folder + '/seen';
    process.on('uncaughtException', () => {});
    export const attempts = { ${attempts.map(([name, code]) => `${JSON.stringify(name)}: () => ${code}`).join(',\n')} };
    `,
  );
  const program = `
    (${installGuards.toString()})();
    const { attempts } = await import(${JSON.stringify(join(folder, 'agent.mjs'))});
    const watch = globalThis[Symbol.for('rerail.watch')];
    const gave = {};
    for (const [name, attempt] of Object.entries(attempts)) {
      watch.notices.clear();
      watch.on = true;
      let end = 'done';
      try { await attempt(); } catch (error) { end = error.name; }
      watch.on = false;
      gave[name] = { end, told: [...watch.notices] };
    }
    process.stdout.write(JSON.stringify(gave), () => process.exit(0));
  `;
  gave = JSON.parse(
    await runCommand(process.execPath, ['--input-type=module', '-e', program]),
  ) as typeof gave;
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('in a replay’s process', () => {
  test.each(Object.keys(FORBIDDEN))('%s throws', (name) => {
    expect(gave[name]?.end).toBe('ReplayGuard');
  });

  test.each(Object.keys(NOTED))('%s works and is told', (name) => {
    expect(gave[name]?.end).toBe('done');
    expect(gave[name]?.told).toEqual([expect.stringContaining('instead of the context')]);
  });

  test.each(Object.keys(ALLOWED))('%s works, and there is nothing to tell', (name) => {
    expect(gave[name]).toEqual({ end: 'done', told: [] });
  });

  test('what the code prints arrives, in a file too', async () => {
    const program = `(${installGuards.toString()})(); console.log('logged'); process.stderr.write('said');`;
    await writeFile(join(folder, 'print.mjs'), program);
    await runCommand('sh', ['-c', '"$0" print.mjs >printed 2>&1', process.execPath], folder);
    expect(await readFile(join(folder, 'printed'), 'utf8')).toBe('logged\nsaid');
    await Promise.all(['print.mjs', 'printed'].map((name) => rm(join(folder, name))));
  });

  test('nothing was written', async () => {
    expect((await readdir(folder)).sort()).toEqual(['agent.mjs', 'seen']);
  });
});
