'use client';

import { Dialog } from 'radix-ui';
import { useRef } from 'react';
import { Button } from '@/components/ui/button';
import { size } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { type Upload, uploads } from '@/lib/client/uploads';
import { Said } from './said';
import { UploadList } from './upload-list';

/** What the console takes. */
export interface UploadTerms {
  readonly formats: readonly { readonly format: string; readonly title: string }[];
  /** Of a file as it is sent. */
  readonly mostBytes: number;
  /** Of a gzip file, unpacked. */
  readonly mostUnzippedBytes: number;
}

/** Where files are chosen, and what became of each. */
export function UploadDialog({
  open,
  terms,
  all,
  barred,
  said,
  onAdd,
  onClose,
}: {
  readonly open: boolean;
  readonly terms: UploadTerms;
  readonly all: readonly Upload[];
  /** Why nothing may be uploaded. */
  readonly barred: string | undefined;
  readonly said: string;
  readonly onAdd: (files: readonly File[]) => void;
  readonly onClose: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const isOver = ({ state }: Upload) =>
    state.kind === 'done' || state.kind === 'refused' || state.kind === 'stopped';
  return (
    <Dialog.Root open={open} onOpenChange={(to) => !to && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog upload-dialog">
          <header>
            <Dialog.Title>Upload traces</Dialog.Title>
            <span className="grow" />
            <Dialog.Close className="btn" data-kind="quiet" data-size="small">
              Close <kbd>Esc</kbd>
            </Dialog.Close>
          </header>
          <div className="upload-drop">
            <Glyph name="upload" />
            <div className="grow">
              <p>{barred ?? 'Drop files anywhere on the page, several at once if you like.'}</p>
              <Dialog.Description className="second small">
                {terms.formats.map(({ title }) => title).join(', ')}; plain or gzip. At most{' '}
                {size(terms.mostBytes)} a file, {size(terms.mostUnzippedBytes)} unpacked. What a file says is
                shown as text and never run.
              </Dialog.Description>
            </div>
            <Button kind="primary" reason={barred} onPress={() => field.current?.click()}>
              Choose files
            </Button>
            <input
              ref={field}
              type="file"
              multiple
              hidden
              aria-label="Files to upload"
              onChange={(event) => {
                onAdd([...(event.target.files ?? [])]);
                // The same file may be chosen again.
                event.target.value = '';
              }}
            />
          </div>
          <Said words={said} />
          {all.length > 0 && (
            <UploadList all={all} onStop={(key) => uploads.stop(key)} onAgain={(key) => uploads.again(key)} />
          )}
          {all.some(isOver) && (
            <div className="flex justify-end p-3">
              <Button size="small" kind="quiet" onPress={() => uploads.clear()}>
                Clear the list
              </Button>
            </div>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
