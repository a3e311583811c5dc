'use client';

import { type ComponentProps, createContext, use } from 'react';
import { Link } from './link';

/** A page that stands for itself, such as a shared run: nothing on it leads to another page. */
export interface Confines {
  /** Why nothing can be done from here, and nothing else opened. */
  readonly reason: string;
  /** The query of this page that an address of the console comes to, where it is of the same thing. */
  readonly here: (href: string) => string | undefined;
}

export const Confined = createContext<Confines | undefined>(undefined);
export const useConfines = (): Confines | undefined => use(Confined);

/** A link to a page of the console. On a confined page: to the same moment of that page, else a name without a link. */
export function PageLink({
  href,
  ...props
}: Omit<ComponentProps<typeof Link>, 'href'> & { readonly href: string }) {
  const confines = useConfines();
  if (confines === undefined) return <Link href={href} {...props} />;
  const { replace: _replace, scroll: _scroll, shallow: _shallow, ...rest } = props;
  const query = confines.here(href);
  if (query === undefined)
    return (
      <span className="unreachable" title={confines.reason}>
        {props.children}
      </span>
    );
  return (
    <a
      {...(rest as ComponentProps<'a'>)}
      href={query}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        window.history.pushState(null, '', query);
      }}
    />
  );
}
