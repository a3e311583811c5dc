import type { Metadata } from 'next';
import localFont from 'next/font/local';
import { headers } from 'next/headers';
import type { ReactNode } from 'react';
import { NONCE_HEADER } from '@/lib/server/content-policy';
import './globals.css';
import { Providers } from './providers';

/* Shipped, so that widths are the same on every machine. What they lack, other scripts say, the system's fonts have. */
const ui = localFont({
  src: '../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  weight: '100 900',
  variable: '--font-ui-file',
});
const mono = localFont({
  src: '../node_modules/@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
  weight: '100 800',
  variable: '--font-mono-file',
  adjustFontFallback: false,
});

export const metadata: Metadata = {
  title: { default: 'Rerail', template: '%s · Rerail' },
  description: 'See what an agent run did, and put it back on its rails.',
};

/** Reads the request, so every page is made for the one that asks: with its nonce. */
export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  const nonce = (await headers()).get(NONCE_HEADER) ?? undefined;
  return (
    <html lang="en" className={`${ui.variable} ${mono.variable}`} suppressHydrationWarning>
      <body>
        <Providers nonce={nonce}>{children}</Providers>
      </body>
    </html>
  );
}
