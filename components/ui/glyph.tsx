/** Our own glyphs on a 16 px grid, stroked in the current colour. One shape for one meaning; always beside a word. */
const shapes = {
  bookmark: (
    <>
      <path d="M3.5 2.5h9v11L8 10.3l-4.5 3.2z" />
    </>
  ),
  checkpoint: (
    <>
      <path d="M8 2.4 13.6 8 8 13.6 2.4 8z" fill="currentColor" />
    </>
  ),
  'chevron-down': (
    <>
      <path d="m3.8 6 4.2 4.2L12.2 6" />
    </>
  ),
  'chevron-right': (
    <>
      <path d="m6 3.8 4.2 4.2L6 12.2" />
    </>
  ),
  columns: (
    <>
      <rect x="2.3" y="3" width="11.4" height="10" rx="1.5" />
      <path d="M6.2 3v10M9.8 3v10" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.3" />
      <path d="M10.5 5.5v-2c0-.6-.4-1-1-1h-6c-.6 0-1 .4-1 1v6c0 .6.4 1 1 1h2" />
    </>
  ),
  'd-blocked': (
    <>
      <path d="M5.6 2.2h4.8l3.4 3.4v4.8l-3.4 3.4H5.6l-3.4-3.4V5.6z" />
      <path d="M5.2 8h5.6" strokeWidth="1.7" />
    </>
  ),
  'd-decide': (
    <>
      <path d="M8 1.9 14.1 8 8 14.1 1.9 8z" />
      <path d="M8 5.2v3.3" strokeWidth="1.6" />
      <circle cx="8" cy="10.8" r=".85" fill="currentColor" stroke="none" />
    </>
  ),
  'd-execute': (
    <>
      <path d="M4.5 3v10L12.8 8z" fill="currentColor" />
    </>
  ),
  'd-recompute': (
    <>
      <path d="M13 8a5 5 0 1 1-1.7-3.750" />
      <path d="M13.2 1.9v3h-3" />
    </>
  ),
  'd-restored': (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="m5.4 8.2 1.9 1.9 3.4-4" />
    </>
  ),
  'd-retry': (
    <>
      <path d="M3 8a5 5 0 1 0 1.7-3.750" />
      <path d="M2.8 1.9v3h3" />
      <path d="M6.5 8h3.2M8.7 8v1.5" strokeWidth="1.3" />
    </>
  ),
  'd-reuse': (
    <>
      <path d="M4.2 6.2h5.6a3.3 3.3 0 0 1 0 6.6H6.5" />
      <path d="M6.7 3.4 3.9 6.2 6.7 9" />
    </>
  ),
  'd-skip': (
    <>
      <path d="m3.2 3.8 5 4.2-5 4.2zM12 3.6v8.8" strokeWidth="1.5" />
    </>
  ),
  different: (
    <>
      <path d="M3.5 6h9M3.5 10h9M10.5 2.8l-5 10.4" />
    </>
  ),
  dots: (
    <>
      <circle cx="3.5" cy="8" r="1.2" fill="currentColor" stroke="none" />
      <circle cx="8" cy="8" r="1.2" fill="currentColor" stroke="none" />
      <circle cx="12.5" cy="8" r="1.2" fill="currentColor" stroke="none" />
    </>
  ),
  download: (
    <>
      <path d="M8 2.5v7.8M4.8 7.3 8 10.5l3.2-3.2M3 13.5h10" />
    </>
  ),
  'e-external': (
    <>
      <path d="M9.3 1.6 3.4 9h4l-.8 5.4L12.6 7h-4z" fill="currentColor" strokeWidth="1" />
    </>
  ),
  'e-idempotent': (
    <>
      <circle cx="5.2" cy="10.8" r="2.7" />
      <path d="m7.1 8.9 6-6M10.7 5.3l2 2" />
    </>
  ),
  'e-pure': (
    <>
      <circle cx="8" cy="8" r="2.2" />
    </>
  ),
  'e-read': (
    <>
      <path d="M1.7 8S4 3.8 8 3.8 14.3 8 14.3 8 12 12.2 8 12.2 1.7 8 1.7 8z" />
      <circle cx="8" cy="8" r="1.9" />
    </>
  ),
  equal: (
    <>
      <path d="M3.5 6h9M3.5 10h9" />
    </>
  ),
  equivalent: (
    <>
      <path d="M3.2 6.7c1.5-1.7 3.2-1.7 4.8-.5s3.3 1.2 4.8-.5M3.2 10.8c1.5-1.7 3.2-1.7 4.8-.5s3.3 1.2 4.8-.5" />
    </>
  ),
  'event-back': (
    <>
      <path d="M9.5 4 5.5 8l4 4" />
    </>
  ),
  'event-fwd': (
    <>
      <path d="m6.5 4 4 4-4 4" />
    </>
  ),
  exit: (
    <>
      <path d="M9.5 3V2.500H3v11h6.500V13M6.5 8h7.500M11.5 5.5 14 8l-2.5 2.5" />
    </>
  ),
  fit: (
    <>
      <path d="M2.5 5.8V2.5h3.3M10.2 2.5h3.3v3.3M13.5 10.2v3.3h-3.3M5.8 13.5H2.5v-3.3" />
    </>
  ),
  fold: (
    <>
      <path d="M4.5 2.5 8 5.8l3.5-3.3M4.5 13.5 8 10.2l3.5 3.3M2.5 8h11" />
    </>
  ),
  fork: (
    <>
      <circle cx="4" cy="3.5" r="1.6" />
      <circle cx="4" cy="12.5" r="1.6" />
      <circle cx="12" cy="5.5" r="1.6" />
      <path d="M4 5.1v5.8M12 7.1c0 2.4-3 2-5.5 2.4C5 9.8 4 10 4 10.9" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 7.4v3.5" />
      <circle cx="8" cy="5.2" r=".8" fill="currentColor" stroke="none" />
    </>
  ),
  'k-agent': (
    <>
      <rect x="2.3" y="2.3" width="8" height="8" rx="1.5" />
      <path d="M13.7 6v6.2c0 .9-.6 1.5-1.5 1.5H6" />
    </>
  ),
  'k-compute': (
    <>
      <path d="M6 2.5H3.5v11H6M10 2.5h2.5v11H10" />
      <path d="M6.5 8h3" />
    </>
  ),
  'k-condition': (
    <>
      <path d="M8 2.2 13.8 8 8 13.8 2.2 8z" />
    </>
  ),
  'k-human': (
    <>
      <circle cx="8" cy="5.2" r="2.7" />
      <path d="M2.8 13.7c.5-2.9 2.5-4.4 5.2-4.4s4.7 1.5 5.2 4.4" />
    </>
  ),
  'k-llm': (
    <>
      <path d="M2.5 4.2c0-.9.6-1.5 1.5-1.5h8c.9 0 1.5.6 1.5 1.5v5c0 .9-.6 1.5-1.5 1.5H7.4L4.3 13.3v-2.6H4c-.9 0-1.5-.6-1.5-1.5z" />
      <path d="M5.3 5.6h5.4M5.3 8h3.4" />
    </>
  ),
  'k-retrieval': (
    <>
      <circle cx="10" cy="9.3" r="2.9" />
      <path d="m12.2 11.5 1.9 1.9M2 3.5h11M2 7h3.6M2 10.5h3.6" />
    </>
  ),
  'k-state': (
    <>
      <rect x="2.3" y="4" width="11.4" height="8" rx="2" />
    </>
  ),
  'k-tool': (
    <>
      <path d="M9.7 2.6a3.6 3.6 0 0 0-4.4 4.7L2.4 10.2a1.3 1.3 0 0 0 0 1.9l1.5 1.5a1.3 1.3 0 0 0 1.9 0l2.9-2.9a3.6 3.6 0 0 0 4.7-4.4L11.2 8.5 8.7 7.3 7.5 4.8z" />
    </>
  ),
  'k-wait': (
    <>
      <circle cx="8" cy="8" r="5.7" />
      <path d="M8 4.8V8l2.2 1.6" />
    </>
  ),
  link: (
    <>
      <path d="M6.7 9.3a2.7 2.7 0 0 0 3.9 0l2.3-2.3a2.750 2.750 0 0 0-3.9-3.9l-.9.9M9.3 6.7a2.7 2.7 0 0 0-3.9 0L3.1 9a2.750 2.750 0 0 0 3.9 3.9l.9-.9" />
    </>
  ),
  lock: (
    <>
      <rect x="3.5" y="7.3" width="9" height="6.2" rx="1.3" />
      <path d="M5.5 7.3V5.2a2.5 2.5 0 0 1 5 0v2.1" />
    </>
  ),
  minus: (
    <>
      <path d="M3.5 8h9" />
    </>
  ),
  moon: (
    <>
      <path d="M13.3 9.7A5.8 5.8 0 0 1 6.3 2.7a5.8 5.8 0 1 0 7 7z" />
    </>
  ),
  'n-api': (
    <>
      <path d="M5.4 2.6c-1.5 0-1.9.7-1.9 1.900v1.700c0 1-.4 1.6-1.4 1.8 1 .2 1.4.8 1.4 1.800v1.700c0 1.2.4 1.9 1.9 1.900M10.6 2.600c1.5 0 1.9.7 1.9 1.900v1.700c0 1 .4 1.6 1.4 1.8-1 .2-1.4.8-1.4 1.800v1.700c0 1.2-.4 1.9-1.9 1.9" />
    </>
  ),
  'n-audit': (
    <>
      <path d="M4 2h8v12H4z" />
      <path d="M6.3 5.2h3.4M6.3 8h3.4M6.3 10.8h2" />
    </>
  ),
  'n-connect': (
    <>
      <path d="M5.7 2v3M10.3 2v3M3.8 5h8.400v2.600a4.2 4.2 0 0 1-8.4 0zM8 11.800V14" />
    </>
  ),
  'n-runs': (
    <>
      <path d="M2.5 4h11M2.5 8h7.5M2.5 12h9.5" />
    </>
  ),
  'n-workers': (
    <>
      <rect x="4" y="4" width="8" height="8" rx="1.2" />
      <path d="M6.5 1.8V4M9.5 1.8V4M6.5 12v2.2M9.5 12v2.2M1.8 6.5H4M1.8 9.5H4M12 6.5h2.2M12 9.5h2.2" />
    </>
  ),
  plus: (
    <>
      <path d="M8 3.5v9M3.5 8h9" />
    </>
  ),
  probe: (
    <>
      <path d="M2 8h3l1.5-4.5 3 9L11 8h3" />
    </>
  ),
  rail: (
    <>
      <path d="M1.5 11.5h13" />
      <path d="M1.5 11.5c6 0 5-7 13-7" />
    </>
  ),
  receipt: (
    <>
      <path d="M4 2v12l2-1.3L8 14l2-1.3L12 14V2z" />
      <path d="M6.4 5.4h3.2M6.4 8.2h3.2" />
    </>
  ),
  replay: (
    <>
      <path d="M3 8a5 5 0 1 0 1.7-3.750" />
      <path d="M2.8 1.9v3h3" />
    </>
  ),
  resume: (
    <>
      <path d="M4.5 3v10L12.8 8z" fill="currentColor" />
    </>
  ),
  rewind: (
    <>
      <path d="M7.6 3.8 2.4 8l5.2 4.2zM13.6 3.8 8.4 8l5.2 4.2z" />
    </>
  ),
  's-cancelled': (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m4.3 11.7 7.4-7.4" />
    </>
  ),
  's-completed': (
    <>
      <path d="M3 8.6 6.4 12 13 4.6" strokeWidth="1.8" />
    </>
  ),
  's-diverged': (
    <>
      <path d="M8 14V9.4M8 9.4C8 6.6 3.6 6.8 3.6 2.6M8 9.4c0-2.8 4.4-2.6 4.4-6.8" strokeWidth="1.6" />
    </>
  ),
  's-doubt': (
    <>
      <path d="M8 1.9 14.1 8 8 14.1 1.9 8z" />
      <path d="M6.6 6.7a1.45 1.45 0 1 1 2 1.35c-.4.18-.6.42-.6.83" strokeWidth="1.3" />
      <circle cx="8" cy="10.7" r=".75" fill="currentColor" stroke="none" />
    </>
  ),
  's-failed': (
    <>
      <path d="m4 4 8 8M12 4l-8 8" strokeWidth="1.8" />
    </>
  ),
  's-interrupted': (
    <>
      <path
        d="M6.9 2.6A5.5 5.5 0 0 0 6 13.1l2-3.3-1.9-2.6zM9.1 2.6 8 6.4l2.1 2.9-1.9 4.2a5.5 5.5 0 0 0 .9-10.9z"
        fill="currentColor"
        strokeWidth=".9"
      />
    </>
  ),
  's-paused': (
    <>
      <path d="M5.6 3.5v9M10.4 3.5v9" strokeWidth="2.2" />
    </>
  ),
  's-queued': (
    <>
      <circle cx="8" cy="8" r="5.5" strokeDasharray="2.3 2.02" />
    </>
  ),
  's-replaying': (
    <>
      <circle cx="8" cy="8" r="5.5" strokeDasharray="2.2 2.1" />
      <path d="M8 4.4a3.6 3.6 0 0 1 0 7.2z" fill="currentColor" stroke="none" />
    </>
  ),
  's-running': (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </>
  ),
  's-unknown': (
    <>
      <path d="M5.4 6A2.6 2.6 0 1 1 9 8.4c-.7.35-1 .8-1 1.5v.2" strokeWidth="1.7" />
      <circle cx="8" cy="12.7" r="1" fill="currentColor" stroke="none" />
    </>
  ),
  's-unreached': (
    <>
      <circle cx="8" cy="8" r="2.6" strokeDasharray="1.6 1.5" />
    </>
  ),
  's-waiting': (
    <>
      <path
        d="M5.3 8.6V4.3a.95.95 0 0 1 1.9 0M7.2 7.4V3.2a.95.95 0 0 1 1.9 0M9.1 7.4V4a.95.95 0 0 1 1.9 0M11 8V5.7a.95.95 0 0 1 1.9 0v4.1c0 2.5-1.6 4.2-4.1 4.2-1.9 0-3-.8-3.9-2.3L3 9c-.6-1.1.9-1.9 1.6-.9l.7 1"
        strokeWidth="1.3"
      />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.2 10.2 3.5 3.5" />
    </>
  ),
  sort: (
    <>
      <path d="M8 12.5v-9M4.5 9 8 12.5 11.5 9" />
    </>
  ),
  stop: (
    <>
      <rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1" />
    </>
  ),
  'to-end': (
    <>
      <path d="M4 3.8 10 8l-6 4.2zM12 3.6v8.8" />
    </>
  ),
  'to-start': (
    <>
      <path d="M12 3.8 6 8l6 4.2zM4 3.6v8.8" />
    </>
  ),
  upload: (
    <>
      <path d="M8 10.5V2.7M4.8 5.7 8 2.5l3.2 3.2M3 13.5h10" />
    </>
  ),
  x: (
    <>
      <path d="m4.5 4.5 7 7M11.5 4.5l-7 7" />
    </>
  ),
} as const;

export type GlyphName = keyof typeof shapes;

export function Glyph({ name, toned = false }: { readonly name: GlyphName; readonly toned?: boolean }) {
  return (
    <svg
      className={toned ? 'glyph toned' : 'glyph'}
      viewBox="0 0 16 16"
      width={14}
      height={14}
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {shapes[name]}
    </svg>
  );
}
