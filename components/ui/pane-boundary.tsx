'use client';

import { Component, type ReactNode } from 'react';
import { Button } from './button';
import { ProblemNote } from './problem-note';

interface Props {
  readonly name: string;
  readonly children: ReactNode;
}

/** What breaks in one pane, its program that could not be loaded included, leaves the others in place. */
export class PaneBoundary extends Component<Props, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <section className="pane" aria-label={this.props.name}>
        <ProblemNote title={`${this.props.name} cannot be shown`} detail={error.message}>
          <Button size="small" onPress={() => this.setState({ error: undefined })}>
            Try again
          </Button>
          <Button size="small" kind="quiet" onPress={() => window.location.reload()}>
            Load the page anew
          </Button>
        </ProblemNote>
      </section>
    );
  }
}
