#!/usr/bin/env node
// Stand-in for Prisma's schema-engine binary (PRISMA_SCHEMA_ENGINE_BINARY, set by prisma.config.ts): speaks the
// CLI's line-delimited JSON-RPC on standard input and output, and does the work with engine.mjs.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openEngine } from './engine.mjs';

const argv = process.argv.slice(2);
if (argv[0] === '--version') {
  console.log('schema-engine-wasm 7.10.0');
  process.exit(0);
}
const values = (name) => argv.flatMap((argument, i) => (argument === name ? [argv[i + 1]] : []));
const url = JSON.parse(values('--datasource')[0] ?? '{}').url;
const schemas = values('--datamodels').map((path) => [path, readFileSync(path, 'utf8')]);
const isPostgres =
  /^postgres(ql)?:/.test(url ?? '') || schemas.some(([, text]) => /provider\s*=\s*"postgresql"/.test(text));
const provider = isPostgres ? 'postgresql' : 'sqlite';
const open = () => openEngine(provider, { url, schemas: schemas.length > 0 ? schemas : undefined });

if (argv.includes('cli')) {
  try {
    await (await open()).ensureConnectionValidity({ datasource: { tag: 'ConnectionString', url } });
    process.exit(0);
  } catch (error) {
    const fields = { error_code: error.code ?? 'P1001', message: String(error.message) };
    console.error(JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields }));
    process.exit(1);
  }
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

// On SQLite the engine answers P1014 where the binary would take a missing history table for an empty one.
async function ensureHistoryTable() {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(url.replace(/^file:/, ''));
  db.exec(`CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL,
    "finished_at" DATETIME, "migration_name" TEXT NOT NULL, "logs" TEXT, "rolled_back_at" DATETIME,
    "started_at" DATETIME NOT NULL DEFAULT current_timestamp, "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0)`);
  db.close();
}

let engine;
async function answer({ id, method: asked, params }) {
  const method = asked === 'getDatabaseVersion' ? 'version' : asked;
  try {
    if (/^file::memory:$/.test(url ?? '') && /^(apply|create|mark|reset|schemaPush|dbExecute)/.test(method))
      throw new Error('Set DATABASE_URL: without it this command would change a database in memory only.');
    engine ??= await open();
    if (provider === 'sqlite' && /Migration|devDiagnostic/.test(method)) await ensureHistoryTable();
    const result = await engine[method](params);
    if (method !== 'diff' || result.stdout == null) return send({ id, result: result ?? null });
    send({ id: 1_000_000 + id, method: 'print', params: { content: result.stdout } });
    return send({ id, result: { ...result, stdout: null } });
  } catch (error) {
    const data = {
      is_panic: false,
      message: error.message,
      error_code: error.code,
      meta: error.meta ?? null,
    };
    return send({ id, error: { code: 4466, message: 'schema engine error', data } });
  }
}

let chain = Promise.resolve();
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line.trim() === '') return;
  const message = JSON.parse(line);
  if (message.method) chain = chain.then(() => answer(message));
});
lines.on('close', () => chain.then(() => process.exit(0)));
