'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '@/components/ui/button';
import { plural } from '@/components/ui/format';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import type { PlanAnswer } from '@/lib/client/api-types';
import { payloadQuery, stateQuery, stepQuery } from '@/lib/client/run-queries';
import { pointerTo } from '@/lib/core/shared/json-pointer';
import { type EditDraft, isEditable, variablePath } from './plan-draft';

interface Props {
  readonly plan: PlanAnswer;
  readonly edits: readonly EditDraft[];
  readonly onEdits: (change: (edits: readonly EditDraft[]) => readonly EditDraft[]) => void;
}

/** What can be edited: its path, its name, and its value as a text. */
interface Offer {
  readonly path: string;
  readonly word: string;
  readonly read: () => Promise<string>;
}

/** A value in one line, where it is one. */
const inOneLine = (text: string) => (text.length <= 60 && !text.includes('\n') ? text : undefined);

function Edit({
  edit,
  onText,
  onRemove,
}: {
  readonly edit: EditDraft;
  readonly onText: (text: string) => void;
  readonly onRemove: () => void;
}) {
  const was = inOneLine(edit.was);
  const now = inOneLine(edit.text);
  return (
    <div className="mb-2">
      <div className="edits flex items-center gap-2">
        <code className="clip" title={edit.path}>
          {edit.path}
        </code>
        <span className="edit grow">
          {was !== undefined && now !== undefined && was !== now && (
            <>
              <del>{was}</del> <ins>{now}</ins>
            </>
          )}
        </span>
        <Button
          size="small"
          kind="quiet"
          glyph="x"
          label={`Remove the edit of ${edit.path}`}
          onPress={onRemove}
        />
      </div>
      <textarea
        className="text mono"
        rows={4}
        spellCheck={false}
        aria-label={`New value of ${edit.path}`}
        value={edit.text}
        onChange={(event) => onText(event.target.value)}
      />
    </div>
  );
}

function Add({
  name,
  none,
  offers,
  onAdd,
}: {
  readonly name: string;
  readonly none: string;
  readonly offers: readonly Offer[];
  readonly onAdd: (offer: Offer) => void;
}) {
  return (
    <select
      className="text"
      aria-label={name}
      value=""
      disabled={offers.length === 0}
      onChange={(event) => {
        const chosen = offers.find((each) => each.path === event.target.value);
        if (chosen) onAdd(chosen);
      }}
    >
      <option value="">{offers.length > 0 ? `${name}…` : none}</option>
      {offers.map((each) => (
        <option key={each.path} value={each.path}>
          {each.word}
        </option>
      ))}
    </select>
  );
}

/** Edits for a fork: variables as JSON, what a step of the open visit gave, or the run's input before the first state. */
export function EditsCard({ plan, edits, onEdits }: Props) {
  const { runId } = plan;
  const { entrySeq } = plan.from;
  const client = useQueryClient();
  const state = useQuery(stateQuery(runId, entrySeq));
  const text = (sha256: string) => client.fetchQuery(payloadQuery(sha256));
  const isNew = ({ path }: Offer) => !edits.some((edit) => edit.path === path);
  const variables: readonly Offer[] = [
    ...Object.entries(state.data?.variables ?? {}).map(([name, payload]) => ({
      path: variablePath(name),
      word: name,
      read: () => text(payload.sha256),
    })),
    ...(state.data?.visit === null && state.data.input
      ? [{ path: '/input', word: 'the input of the run', input: state.data.input }].map((each) => ({
          ...each,
          read: () => text(each.input.sha256),
        }))
      : []),
  ].filter(isNew);
  const outputs: readonly Offer[] = plan.steps
    .filter((step) => isEditable(step, plan))
    .map(({ key }) => ({
      path: pointerTo('steps', key, 'result'),
      word: key,
      read: async () => {
        const { result } = await client.fetchQuery(stepQuery(runId, key));
        return result === null ? 'null' : text(result.sha256);
      },
    }))
    .filter(isNew);
  const add = useMutation({
    mutationFn: async ({ path, read }: Offer): Promise<EditDraft> => {
      const was = await read();
      return { path, text: was, was };
    },
    onSuccess: (edit) => onEdits((now) => [...now.filter((each) => each.path !== edit.path), edit]),
  });
  const change = (path: string, to: string) =>
    onEdits((now) => now.map((each) => (each.path === path ? { ...each, text: to } : each)));
  return (
    <section className="side-card" aria-label="Edits">
      <h2>
        Edits
        <span className="grow" />
        <span className="small third">
          {edits.length === 0
            ? 'take effect where the open visit begins'
            : `${plural(edits.length, 'edit')}, nothing runs yet`}
        </span>
      </h2>
      {edits.map((edit) => (
        <Edit
          key={edit.path}
          edit={edit}
          onText={(to) => change(edit.path, to)}
          onRemove={() => onEdits((now) => now.filter((each) => each.path !== edit.path))}
        />
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
      <div className="flex gap-2">
        {state.data && (
          <Add
            name="Edit a variable"
            none={edits.length > 0 ? 'Nothing more to edit at this point' : 'Nothing to edit at this point'}
            offers={variables}
            onAdd={(offer) => add.mutate(offer)}
          />
        )}
        <Add
          name="Edit a step’s output"
          none="No output of the open visit to edit"
          offers={outputs}
          onAdd={(offer) => add.mutate(offer)}
        />
      </div>
      {state.isPending && entrySeq > 0 && <Skeleton rows={1} />}
    </section>
  );
}
