'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '@/components/ui/button';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import { payloadQuery, stateQuery } from '@/lib/client/run-queries';
import { type EditDraft, variablePath } from './plan-draft';

interface Props {
  readonly runId: string;
  readonly entrySeq: number;
  readonly edits: readonly EditDraft[];
  readonly onEdits: (change: (edits: readonly EditDraft[]) => readonly EditDraft[]) => void;
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
  const add = useMutation({
    mutationFn: async ({ path, payload }: (typeof offered)[number]): Promise<EditDraft> => ({
      path,
      text: await client.fetchQuery(payloadQuery(payload.sha256)),
    }),
    onSuccess: (edit) => onEdits((now) => [...now.filter((each) => each.path !== edit.path), edit]),
  });
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
              onPress={() => onEdits((now) => now.filter((each) => each.path !== edit.path))}
            />
          </div>
          <textarea
            className="text mono"
            rows={4}
            spellCheck={false}
            aria-label={`New value of ${edit.path}`}
            value={edit.text}
            onChange={(event) =>
              onEdits((now) =>
                now.map((each) => (each.path === edit.path ? { ...each, text: event.target.value } : each)),
              )
            }
          />
        </div>
      ))}
      {state.isError && (
        <ProblemNote title="What can be edited could not be read" detail={problemOf(state.error).detail}>
          <Button size="small" onPress={() => void state.refetch()}>
            Try again
          </Button>
        </ProblemNote>
      )}
      {add.isError && (
        <ProblemNote title="The value could not be read" detail={problemOf(add.error).detail} />
      )}
      {state.data && (
        <select
          className="text"
          aria-label="Edit a variable"
          value=""
          onChange={(event) => {
            const chosen = offered.find((each) => each.path === event.target.value);
            if (chosen) add.mutate(chosen);
          }}
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
      )}
      {state.isPending && entrySeq > 0 && <Skeleton rows={1} />}
    </section>
  );
}
