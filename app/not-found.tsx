import { Link } from '@/components/ui/link';

export default function NotFound() {
  return (
    <main className="page empty-page">
      <div className="empty-box">
        <h1 className="text-title font-semibold">There is nothing at this address</h1>
        <p className="second">It may have been mistyped, or the run was deleted.</p>
        <p className="mt-4">
          <Link className="btn" href="/runs">
            Go to the runs
          </Link>
        </p>
      </div>
    </main>
  );
}
