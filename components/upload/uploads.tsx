'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useQueryState } from 'nuqs';
import { Dialog } from 'radix-ui';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button } from '@/components/ui/button';
import { size } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { runKeys } from '@/lib/client/run-queries';
import { sessionQuery } from '@/lib/client/session-queries';
import { type Upload, uploads } from '@/lib/client/uploads';
import { openParam } from '@/lib/client/url-state';
import { UploadList } from './upload-list';
import { stateWords, underWayWords } from './upload-words';

/** What the console takes. */
export interface UploadTerms {
  readonly formats: readonly { readonly format: string; readonly title: string }[];
  /** Of a file as it is sent. */
  readonly mostBytes: number;
  /** Of a gzip file, unpacked. */
  readonly mostUnzippedBytes: number;
}

const nothing: readonly Upload[] = [];

/** Uploads of every page: files dropped anywhere, the dialog with what became of each, and a strip while it is closed. */
export function UploadsOfPage({ terms }: { readonly terms: UploadTerms }) {
  const client = useQueryClient();
  const [open, setOpen] = useQueryState('open', openParam);
  const all = useSyncExternalStore(uploads.subscribe, uploads.snapshot, () => nothing);
  const [said, setSaid] = useState('');
  const role = useQuery(sessionQuery).data?.role;
  const barred = role === 'viewer' ? 'This needs the role operator' : undefined;
  const add = (files: readonly File[]) => {
    if (files.length === 0) return;
    // Whoever may not upload sees why in the dialog.
    if (barred === undefined) uploads.add(files, terms.mostBytes);
    void setOpen('upload');
  };
  const dragged = useDrop(add);
  useEffect(
    () =>
      uploads.onOver((upload) => {
        setSaid(`${upload.file.name}: ${stateWords(upload)}`);
        if (upload.state.kind === 'done') void client.invalidateQueries({ queryKey: runKeys.all });
      }),
    [client],
  );
  const words = underWayWords(all);
  useStay(words !== undefined);
  const close = () => void setOpen(null);
  return (
    <>
      {open !== 'upload' && <Said words={said} />}
      {dragged && (
        <div className="drop-anywhere" aria-hidden="true">
          <p>
            <Glyph name="upload" /> Drop to upload
          </p>
        </div>
      )}
      {open !== 'upload' && words !== undefined && (
        <button type="button" className="upload-strip" onClick={() => void setOpen('upload')}>
          <Glyph name="upload" />
          {words}
        </button>
      )}
      {open === 'upload' && (
        <UploadDialog terms={terms} all={all} barred={barred} said={said} onAdd={add} onClose={close} />
      )}
    </>
  );
}

/** What is announced: in the dialog while that is open, which hides all else from screen readers. */
function Said({ words }: { readonly words: string }) {
  return (
    <div className="visually-hidden" role="status" aria-label="Uploads">
      {words}
    </div>
  );
}

function UploadDialog({
  terms,
  all,
  barred,
  said,
  onAdd,
  onClose,
}: {
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
    <Dialog.Root open onOpenChange={(to) => !to && onClose()}>
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

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;

/** Takes files that are dropped on the window. True while some are held over it. */
function useDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [dragged, setDragged] = useState(false);
  const newest = useRef(onFiles);
  useEffect(() => {
    newest.current = onFiles;
  });
  useEffect(() => {
    // Each element that is crossed is entered before the other is left.
    let within = 0;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      within += 1;
      setDragged(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      within = Math.max(0, within - 1);
      if (within === 0) setDragged(false);
    };
    const over = (event: DragEvent) => {
      if (!hasFiles(event) || event.dataTransfer === null) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      within = 0;
      setDragged(false);
      newest.current([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragleave', leave);
    window.addEventListener('dragover', over);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('dragover', over);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return dragged;
}

/** While files are on their way the browser asks before the page is left for good. */
function useStay(underWay: boolean): void {
  useEffect(() => {
    if (!underWay) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [underWay]);
}
