/** What is announced: in the dialog while that is open, which hides all else from screen readers. */
export function Said({ words }: { readonly words: string }) {
  return (
    <div className="visually-hidden" role="status" aria-label="Uploads">
      {words}
    </div>
  );
}
