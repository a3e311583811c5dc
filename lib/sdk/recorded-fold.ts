import { variableName } from '../core/projections/variables';
import type { LoadedRun } from './load-run';
import type { CallEvent } from './record';

type Patched = Extract<CallEvent, { readonly kind: 'variables.patched' }>;

/**
 * State as far as the code has come in the record: what the journal's own fold must equal when the run goes live.
 * Variables by digest of their text, messages by count.
 */
export class RecordedFold {
  private readonly variables: Map<string, string>;
  private messages: number;
  private visit: string | undefined;

  /** Begins with the state at the entry of the open visit. */
  constructor({ view, entry }: Pick<LoadedRun, 'view' | 'entry'>) {
    this.variables = new Map([...view.variables].map(([name, { ref }]) => [name, ref.sha256]));
    this.messages = view.messages.length;
    this.visit = entry?.key;
  }

  apply(event: CallEvent): void {
    if (event.kind === 'variables.patched') this.patched(event);
    else if (event.kind === 'message.appended') this.messages++;
    else if (event.kind === 'state.entered') this.visit = event.key;
  }

  /** The first difference from the fold at the head as a sentence. */
  differenceFrom(head: LoadedRun['head']): string | undefined {
    for (const name of new Set([...Object.keys(head.variables), ...this.variables.keys()])) {
      if (head.variables[name]?.sha256 !== this.variables.get(name))
        return `Variable ${name} differs from the journal's fold`;
    }
    if (head.messageCount !== this.messages)
      return `The conversation has ${this.messages} messages; the journal's fold has ${head.messageCount}`;
    if (head.visit !== undefined && head.visit.key !== this.visit)
      return `The code is in ${String(this.visit)}; the journal's fold is in ${head.visit.key}`;
    return undefined;
  }

  private patched({ patch }: Patched): void {
    for (const { path, value } of patch) {
      if (value === undefined) this.variables.delete(variableName(path));
      else this.variables.set(variableName(path), value.sha256);
    }
  }
}
