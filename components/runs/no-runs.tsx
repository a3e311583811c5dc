import { Button } from '@/components/ui/button';

export function NoMatch({ onClear }: { readonly onClear: () => void }) {
  return (
    <div className="empty">
      <strong>No run matches these filters</strong>
      <p className="second">Take one away, or look at all of them.</p>
      <Button onPress={onClear}>Clear the filters</Button>
    </div>
  );
}

/** No runs at all: the three ways in. */
export function NoRuns() {
  return (
    <div className="empty-page h-full">
      <div className="empty-box">
        <h2>No runs yet</h2>
        <p className="second">Runs come from a worker, from a file, or from the demo.</p>
        <ol>
          <li>
            <b>The demo</b>
            <span>
              Stop the console and run <code>npm start</code>: a refund desk with a killed run to be rescued.
            </span>
          </li>
          <li>
            <b>Your agent</b>
            <span>
              Declare it with <code>@rerail/sdk</code> and start a worker with this console's address.
            </span>
          </li>
          <li>
            <b>A trace file</b>
            <span>
              <code>curl --data-binary @trace.json {'<this address>'}/api/v1/traces</code>
            </span>
          </li>
        </ol>
      </div>
    </div>
  );
}
