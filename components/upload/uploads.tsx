'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useQueryState } from 'nuqs';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { Later, part } from '@/components/ui/later';
import { runKeys } from '@/lib/client/run-queries';
import { sessionQuery } from '@/lib/client/session-queries';
import { type Upload, uploads } from '@/lib/client/uploads';
import { openParam } from '@/lib/client/url-state';
import { Said } from './said';
import type { UploadTerms } from './upload-dialog';
import { stateWords, underWayWords } from './upload-words';

const uploadDialog = part(() => import('./upload-dialog').then((module) => module.UploadDialog));
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
      <Later
        of={uploadDialog}
        shown={open === 'upload'}
        props={{ open: open === 'upload', terms, all, barred, said, onAdd: add, onClose: close }}
      />
    </>
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
