'use client';

import { Button, ButtonLink } from '@/components/ui/button';
import { Glyph } from '@/components/ui/glyph';

/** Filters that no run matches: which they are, and the way out. */
export function NoMatch({
  words,
  onClear,
}: {
  readonly words: readonly string[];
  readonly onClear: () => void;
}) {
  return (
    <div className="empty">
      <Glyph name="search" />
      <strong>No run matches these filters</strong>
      <p className="second break-words">{words.join(' · ')}</p>
      <p className="second">Take one away, or look at all of them.</p>
      <Button onPress={onClear}>Clear the filters</Button>
    </div>
  );
}

/** No runs at all: the three ways in. */
export function NoRuns({ onUpload }: { readonly onUpload: () => void }) {
  return (
    <div className="empty-page h-full">
      <div className="empty-box">
        <Glyph name="n-runs" />
        <h2>No runs here yet</h2>
        <p className="second">Nothing was filtered away: this console has not received a run.</p>
        <ol>
          <li>
            <b>Look around</b>
            <span>
              Stop the console and run <code>npm start</code>: it brings a demo, a refund desk with a run that
              was killed half-way.
            </span>
            <Button
              size="small"
              glyph="copy"
              onPress={() => void navigator.clipboard.writeText('npm start')}
              label="Copy npm start"
            />
          </li>
          <li>
            <b>Connect an agent</b>
            <span>The SDK, an OpenTelemetry exporter, or plain HTTP: each takes a few lines.</span>
            <ButtonLink size="small" glyph="n-connect" href="/connect">
              Connect
            </ButtonLink>
          </li>
          <li>
            <b>Upload a trace</b>
            <span>A file from elsewhere, dropped anywhere on this page.</span>
            <Button size="small" glyph="upload" onPress={onUpload}>
              Upload a trace
            </Button>
          </li>
        </ol>
      </div>
    </div>
  );
}

/** Placeholder in the shape of rows to come. */
export function SkeletonRows() {
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: 20 }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
        <div key={n} className="skeleton-row">
          {Array.from({ length: 8 }, (_, m) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
            <i key={m} data-width={(n * 3 + m * 5) % 4} />
          ))}
        </div>
      ))}
    </div>
  );
}
