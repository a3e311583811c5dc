const lines = (n: number, name: string) => Array.from({ length: n }, (_, at) => `${name} ${at}`);

/** The sheet's own shape, before there is a plan; `inside` a sheet that has its head already. */
export function PlanSkeleton({ inside = false }: { readonly inside?: boolean }) {
  const body = (
    <div className="plan-body" role="status" aria-label="Loading">
      <div className="plan-main p-4">
        {lines(10, 'row').map((row) => (
          <div key={row} className="skeleton" />
        ))}
      </div>
      <div className="plan-side p-4">
        {lines(6, 'line').map((line) => (
          <div key={line} className="skeleton" />
        ))}
      </div>
    </div>
  );
  if (inside) return body;
  return (
    <>
      <div className="page-head over" />
      <div className="sheet">
        <div className="sheet-head">
          <div className="skeleton w-80" />
        </div>
        <div className="start p-4">
          <div className="skeleton" />
        </div>
        {body}
      </div>
    </>
  );
}
