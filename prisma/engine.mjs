// Prisma's schema engine as WebAssembly over the driver adapters, with small repairs to the adapters' paths that
// only migrations take. Used by schema-engine.mjs (the CLI's engine) and check-migrations.mjs.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';

// The engine says what it panicked about through this global, then throws an `unreachable` that says nothing.
globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  set_message: (message) => console.error(`schema engine: ${message}`),
};

/** Once a process: the glue code keeps views of one instance's memory. */
let loaded;
const loadEngine = () => {
  loaded ??= instantiate();
  return loaded;
};

async function instantiate() {
  const glue = import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = await import(glue);
  const { instance } = await WebAssembly.instantiate(readFileSync(new URL('schema_engine_bg.wasm', glue)), {
    './schema_engine_bg.js': bindings,
  });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return bindings.SchemaEngine;
}

async function sqliteFactory(url) {
  const { PrismaBetterSqlite3 } = await import('@prisma/adapter-better-sqlite3');
  // Migrations are replayed with executeRaw, and better-sqlite3 prepares one statement only.
  const repaired = (adapter) => {
    const executeOne = adapter.executeRaw.bind(adapter);
    adapter.executeRaw = async (query) => {
      if (query.args.length > 0) return executeOne(query);
      await adapter.executeScript(query.sql);
      return 0;
    };
    return adapter;
  };
  const factory = new PrismaBetterSqlite3({ url });
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => repaired(await factory.connect()),
    connectToShadowDb: async () => repaired(await factory.connectToShadowDb()),
  };
}

async function postgresFactory(url) {
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const CHAR = 18;
  const TEXT = 25;
  const open = async (address, afterDispose) => {
    const adapter = await new PrismaPg({ connectionString: String(address) }).connect();
    const perform = adapter.performIO.bind(adapter);
    const dispose = adapter.dispose.bind(adapter);
    // The adapter does not know the type "char", which the engine's catalogue queries return.
    adapter.performIO = async (query) => {
      const answer = await perform(query);
      for (const field of answer.fields ?? []) if (field.dataTypeID === CHAR) field.dataTypeID = TEXT;
      return answer;
    };
    adapter.dispose = async () => {
      await dispose();
      await afterDispose?.();
    };
    return adapter;
  };
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => open(url),
    // The adapter's own would ignore the shadow's name (a connection string wins) and drop it while connected.
    connectToShadowDb: async () => {
      const admin = await open(url);
      const name = `prisma_shadow_${randomUUID()}`;
      const shadow = new URL(url);
      await admin.executeScript(`CREATE DATABASE "${name}"`);
      shadow.pathname = `/${name}`;
      return open(shadow, async () => {
        await admin.executeScript(`DROP DATABASE IF EXISTS "${name}"`);
        await admin.dispose();
      });
    },
  };
}

/** `schemas`: `[path, content]` of every schema file. `url`: the database; SQLite's default is in memory. */
export async function openEngine(provider, { url, schemas } = {}) {
  const SchemaEngine = await loadEngine();
  const factory = await (provider === 'sqlite' ? sqliteFactory(url ?? ':memory:') : postgresFactory(url));
  return SchemaEngine.new({ datamodels: schemas }, () => {}, bindMigrationAwareSqlAdapterFactory(factory));
}
