/** Whether the page hears of changes as they happen. */
export function LiveDot({ liveness }: { readonly liveness: 'connecting' | 'live' | 'lost' }) {
  const word = { connecting: 'Connecting', live: 'Live', lost: 'Not live, reconnecting' }[liveness];
  return (
    <span className="live" role="status" aria-label="Live updates" data-live={liveness}>
      <i aria-hidden="true" />
      {word}
    </span>
  );
}
