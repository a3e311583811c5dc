'use client';

/** Last resort: an error here is a bug of ours, and the page says so. */
export default function ErrorPage({
  error,
  reset,
}: {
  readonly error: Error & { digest?: string };
  readonly reset: () => void;
}) {
  return (
    <main className="page empty-page">
      <div className="empty-box" role="alert">
        <h1 className="text-title font-semibold">This page broke</h1>
        <p className="second">A bug in the console. {error.message}</p>
        {error.digest !== undefined && <p className="third small">Reference {error.digest}</p>}
        <p className="second">
          Whether what you did last was taken is shown by the run, once this page is loaded anew.
        </p>
        <p className="mt-4">
          <button type="button" className="btn" onClick={reset}>
            Try again
          </button>
        </p>
      </div>
    </main>
  );
}
