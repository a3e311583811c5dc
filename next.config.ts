import { fileURLToPath } from 'node:url';
import type { NextConfig } from 'next';

const root = fileURLToPath(new URL('.', import.meta.url));

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
  // Under `next start` alone, proxy.ts reads bodies first: above the API's own limit, which then answers 413.
  experimental: { proxyClientMaxBodySize: '40mb' },
} satisfies NextConfig;
