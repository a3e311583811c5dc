'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '@/components/ui/button';
import { payloadQuery, stateQuery } from '@/lib/client/run-queries';
import { type EditDraft, variablePath } from './plan-draft';

interface Props {
  readonly runId: string;
  readonly entrySeq: number;
  readonly edits: readonly EditDraft[];
  readonly onEdits: (edits: readonly EditDraft[]) => void;
}

/** Edits for a fork: variables as JSON, or the run's input where it forks before the first state. */
export function EditsCard({ runId, entrySeq, edits, onEdits }: Props) {
  const client = useQueryClient();
  const state = useQuery(stateQuery(runId, entrySeq));
  const offered = [
    ...Object.entries(state.data?.variables ?? {}).map(([name, payload]) => ({
      path: variablePath(name),
      word: name,
      payload,
    })),
    ...(state.data?.visit === null && state.data.input
      ? [{ path: '/input', word: 'the input of the run', payload: state.data.input }]
      : []),
  ].filter((each) => !edits.some((edit) => edit.path === each.path));
  const add = async (path: string) => {
    const chosen = offered.find((each) => each.path === path);
    if (!chosen) return;
    const text = await client.fetchQuery(payloadQuery(chosen.payload.sha256));
    onEdits([...edits, { path, text }]);
  };
  return (
    <section className="side-card" aria-label="Edits">
      <h2>
        Edits <span className="small third">take effect where the open visit begins</span>
      </h2>
      {edits.map((edit) => (
        <div key={edit.path} className="mb-2">
          <div className="flex items-center gap-2">
            <code className="grow clip">{edit.path}</code>
            <Button
              size="small"
              kind="quiet"
              glyph="x"
              label={`Remove the edit of ${edit.path}`}
              onPress={() => onEdits(edits.filter((each) => each !== edit))}
            />
          </div>
          <textarea
            className="text mono"
            rows={4}
            spellCheck={false}
            aria-label={`New value of ${edit.path}`}
            value={edit.text}
            onChange={(event) =>
              onEdits(edits.map((each) => (each === edit ? { ...each, text: event.target.value } : each)))
            }
          />
        </div>
      ))}
      <select
        className="text"
        aria-label="Edit a variable"
        value=""
        onChange={(event) => void add(event.target.value)}
      >
        <option value="">
          {offered.length > 0
            ? 'Edit a variable…'
            : edits.length > 0
              ? 'Nothing more to edit at this point'
              : 'Nothing to edit at this point'}
        </option>
        {offered.map((each) => (
          <option key={each.path} value={each.path}>
            {each.word}
          </option>
        ))}
      </select>
    </section>
  );
}
