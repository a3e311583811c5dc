'use client';

import {
  createElement,
  type FunctionComponent,
  type ReactNode,
  useEffect,
  useReducer,
  useState,
} from 'react';
import { Button } from './button';
import { ProblemNote } from './problem-note';

/** So soon after the page stands it is fetched, to be there when it is asked for. */
const AHEAD_MS = 2_000;
/** How soon it is tried again where the console did not send it. */
const AGAIN_MS = 2_000;

/** A component whose code is no part of what a page loads first: a menu, a dialog. */
export interface Part<Props extends object> {
  readonly component: () => FunctionComponent<Props> | undefined;
  readonly fetch: () => Promise<void>;
}

export function part<Props extends object>(load: () => Promise<FunctionComponent<Props>>): Part<Props> {
  let component: FunctionComponent<Props> | undefined;
  return {
    component: () => component,
    fetch: async () => {
      component ??= await load();
    },
  };
}

/** Fetches parts soon after the page stands. Those that do not come are fetched where they are shown. */
export function useFetchedAhead(parts: readonly { readonly fetch: () => Promise<void> }[]): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const each of parts) void each.fetch().catch(() => undefined);
    }, AHEAD_MS);
    return () => clearTimeout(timer);
  }, [parts]);
}

/** How it stands with a part that is wanted and not there yet. `missing`: the console did not send it. */
export type Stand = 'coming' | 'missing';

/**
 * Shows a part: it is fetched soon after the page stands, and drawn from the first time that it is `shown` on, so that it
 * can close by itself. Until then `instead` stands in its place; where it does not come, that is said, and it is tried
 * again.
 */
export function Later<Props extends object>({
  of,
  shown,
  stands = false,
  fills = false,
  instead = null,
  props,
}: {
  readonly of: Part<Props>;
  readonly shown: boolean;
  /** It is drawn as soon as it is there, shown or not, and missed by nobody. */
  readonly stands?: boolean;
  /** `instead` only keeps its room: what is said where it does not come stands there. */
  readonly fills?: boolean;
  readonly instead?: ReactNode;
  readonly props: Props;
}): ReactNode {
  const [, came] = useReducer((n: number) => n + 1, 0);
  const [tries, again] = useReducer((n: number) => n + 1, 0);
  const [missing, setMissing] = useState(false);
  const [wanted, setWanted] = useState(shown);
  if (shown && !wanted) setWanted(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try begins anew
  useEffect(() => {
    if (of.component() !== undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const fetchIt = () =>
      of.fetch().then(
        () => {
          if (!gone) came();
        },
        () => {
          if (gone) return;
          setMissing(true);
          timer = setTimeout(fetchIt, AGAIN_MS);
        },
      );
    if (wanted) void fetchIt();
    else timer = setTimeout(fetchIt, AHEAD_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [of, wanted, tries]);
  const component = of.component();
  if (component !== undefined && (wanted || stands)) return createElement(component, props);
  if (!shown || stands) return instead;
  return (
    <NotYet stand={missing ? 'missing' : 'coming'} fills={fills} again={again}>
      {instead}
    </NotYet>
  );
}

/** In the place of a part that is wanted and not there: `children`, or why there is nothing. */
export function NotYet({
  stand,
  fills,
  again,
  children,
}: {
  readonly stand: Stand;
  readonly fills: boolean;
  readonly again: () => void;
  readonly children: ReactNode;
}): ReactNode {
  if (fills) return stand === 'missing' ? <PartMissing again={again} /> : children;
  return (
    <>
      {children}
      {stand === 'missing' && <PartMissing beside again={again} />}
      {stand === 'coming' && children === null && (
        <p className="part-note" data-late="" role="status">
          Loading…
        </p>
      )}
    </>
  );
}

/** A part did not come. `beside`: what it belongs to has no room for that. */
export function PartMissing({
  beside = false,
  again,
}: {
  readonly beside?: boolean;
  readonly again: () => void;
}): ReactNode {
  const note = (
    <ProblemNote title="This part of the page could not be loaded" detail="The console did not send it.">
      <Button size="small" onPress={again}>
        Try again
      </Button>
    </ProblemNote>
  );
  return beside ? <div className="part-note">{note}</div> : note;
}

/** What a press comes to whose answer is a part: it is there, nobody waits for it any more, or it did not come. */
export type Answer = 'there' | 'left' | 'missing';

/** `waits`: asked once the part is there. */
export async function answerOf(
  of: { readonly fetch: () => Promise<void> },
  waits: () => boolean,
): Promise<Answer> {
  try {
    await of.fetch();
  } catch {
    return 'missing';
  }
  return waits() ? 'there' : 'left';
}

/**
 * A press on a control that opens a part. Where that must be fetched first, it opens only if the control has kept the
 * focus: whoever went on to something else is not called back.
 */
export function usePress(of: { readonly component: () => unknown; readonly fetch: () => Promise<void> }): {
  /** The control waits for its part. */
  readonly busy: boolean;
  /** Tries again what did not come. */
  readonly again: (() => void) | undefined;
  readonly press: (control: HTMLElement, open: () => void) => void;
} {
  const [waiting, setWaiting] = useState<HTMLElement>();
  const [again, setAgain] = useState<() => void>();
  const press = (control: HTMLElement, open: () => void) => {
    setAgain(undefined);
    if (of.component() !== undefined) {
      open();
      return;
    }
    // A browser may leave what is pressed without the focus.
    control.focus();
    setWaiting(control);
    void answerOf(of, () => document.activeElement === control).then((answer) => {
      setWaiting(undefined);
      if (answer === 'there') open();
      if (answer === 'missing') setAgain(() => () => press(control, open));
    });
  };
  return { busy: waiting !== undefined, again, press };
}
