'use client';

import { type ComponentType, createElement, type ReactNode, useEffect, useReducer, useState } from 'react';

/** So soon after the page stands it is fetched, to be there when it is asked for. */
const AHEAD_MS = 2_000;
/** How soon it is tried again where the console did not send it. */
const AGAIN_MS = 2_000;

/** A component whose code is no part of what a page loads first: a menu, a dialog. */
export interface Part<Props extends object> {
  readonly component: () => ComponentType<Props> | undefined;
  readonly fetch: () => Promise<void>;
}

export function part<Props extends object>(load: () => Promise<ComponentType<Props>>): Part<Props> {
  let component: ComponentType<Props> | undefined;
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

/**
 * Shows a part: it is fetched soon after the page stands, and drawn from the first time that it is `shown` on, so that it
 * can close by itself. Until then `instead` stands in its place.
 */
export function Later<Props extends object>({
  part,
  shown,
  stands = false,
  instead = null,
  props,
}: {
  readonly part: Part<Props>;
  readonly shown: boolean;
  /** It is drawn as soon as it is there, shown or not. */
  readonly stands?: boolean;
  readonly instead?: ReactNode;
  readonly props: Props;
}): ReactNode {
  const [, came] = useReducer((n: number) => n + 1, 0);
  const [wanted, setWanted] = useState(shown);
  if (shown && !wanted) setWanted(true);
  useEffect(() => {
    if (part.component() !== undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const fetchIt = () =>
      part.fetch().then(
        () => {
          if (!gone) came();
        },
        () => {
          if (!gone) timer = setTimeout(fetchIt, AGAIN_MS);
        },
      );
    if (wanted) void fetchIt();
    else timer = setTimeout(fetchIt, AHEAD_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [part, wanted]);
  const component = part.component();
  return component !== undefined && (wanted || stands) ? createElement(component, props) : instead;
}
