/** Runs once before Next answers: every request of this process gets its peer's address, see `proxy.ts`. */
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { subscribe } = await import('node:diagnostics_channel');
  const { markPeer } = await import('@/lib/server/peer-header');
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { readonly request: Parameters<typeof markPeer>[0] };
    markPeer(request);
  });
}
