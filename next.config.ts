import { fileURLToPath } from 'node:url';
import type { NextConfig } from 'next';

const root = fileURLToPath(new URL('.', import.meta.url));

const MIB = 1024 * 1024;

function longestBody(): number {
  const { RERAIL_MAX_UPLOAD_BYTES: upload, RERAIL_MAX_BODY_BYTES: body } = process.env;
  return Math.max(Number(upload || 256 * MIB), Number(body || 32 * MIB));
}

export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // Native or dynamically loaded packages stay outside the bundles.
  serverExternalPackages: [
    'better-sqlite3',
    '@prisma/adapter-better-sqlite3',
    '@prisma/adapter-pg',
    'pg',
    'pino',
  ],
  outputFileTracingRoot: root,
  turbopack: { root },
  // `npm run check` has a stage of its own for types; `npm start` should not pay for it again.
  typescript: { ignoreBuildErrors: true },
  devIndicators: false,
  // Under `next start` alone, bodies pass through the proxy, which hands on the beginning of a longer one as if it were
  // the whole: so its limit lies above the API's own (lib/server/env.ts), which then answer 413.
  experimental: { proxyClientMaxBodySize: longestBody() + MIB },
} satisfies NextConfig;
