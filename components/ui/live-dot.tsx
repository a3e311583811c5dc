/** Whether the page hears of changes as they happen. */
export function LiveDot({
  liveness,
  word,
}: {
  readonly liveness: 'connecting' | 'live' | 'lost';
  readonly word?: string;
}) {
  const usual = { connecting: 'Connecting', live: 'Live', lost: 'Not live, reconnecting' }[liveness];
  return (
    <span className="live" role="status" aria-label="Live updates" data-live={liveness}>
      <i aria-hidden="true" />
      {word ?? usual}
    </span>
  );
}
