/** The stylesheet. Every text colour has a contrast of at least 4.5:1 with its background. */
export const style = `
:root { color-scheme: light dark;
  --ground: #f5f2ec; --card: #fffdf9; --ink: #1f2421; --soft: #5c635e; --line: #ddd7cb;
  --accent: #1d5c45; --accent-ink: #ffffff; --tint: #e4ece4; --code: #f0ece3;
  --good: #17603f; --good-tint: #dcefe2; --bad: #9c2a20; --bad-tint: #f9e2de;
  --wait: #7a5200; --wait-tint: #f8ebcd; --off: #55595c; --off-tint: #e8e7e3; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #161917; --card: #1f2320; --ink: #eceae4; --soft: #a9b0aa; --line: #363c37;
  --accent: #8ccfac; --accent-ink: #0d2118; --tint: #25302a; --code: #191d1a;
  --good: #8edbb0; --good-tint: #173626; --bad: #ffb0a5; --bad-tint: #43201c;
  --wait: #f2cb7d; --wait-tint: #3d3014; --off: #c3c6c3; --off-tint: #2f3330; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between;
  gap: .25rem 1.5rem; padding-block: 1.1rem; }
header nav { display: flex; gap: .25rem; margin-right: -.75rem; }
header nav a { padding: .6rem .75rem; border-radius: .6rem; color: var(--ink); text-decoration: none; }
header nav a:hover { background: var(--tint); }
header nav a[aria-current] { font-weight: 650; text-decoration: 2px underline var(--accent);
  text-underline-offset: .45em; }
.brand { font: 650 1.25rem/1.2 ui-serif, Georgia, serif; color: var(--ink); text-decoration: none; }
h1 { font: 600 clamp(1.7rem, 1.3rem + 2vw, 2.5rem)/1.15 ui-serif, Georgia, serif;
  margin: 1.4rem 0 .6rem; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 .35rem; }
p { margin: 0 0 1rem; max-width: 42rem; text-wrap: pretty; }
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .3rem; }
.lead, .soft { color: var(--soft); }
p.last { margin-bottom: 0; }
.lead { font-size: 1.1rem; margin-bottom: 1.6rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  padding: 1.25rem; margin: 0 0 1.25rem; min-width: 0; }
.products { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 16rem), 1fr));
  gap: 1.25rem; padding: 0; margin: 0 0 2rem; list-style: none; }
.products li { display: flex; flex-direction: column; margin: 0; }
.products form { margin-top: auto; display: flex; flex-wrap: wrap; align-items: center;
  justify-content: space-between; gap: 1rem; }
.drawing { display: grid; place-items: center; margin: -1.25rem -1.25rem 1.1rem; height: 9.5rem;
  background: var(--tint); border-radius: 1rem 1rem 0 0; color: var(--accent); }
.drawing svg { width: 4.75rem; height: 4.75rem; fill: none; stroke: currentColor;
  stroke-width: 1.1; stroke-linecap: round; stroke-linejoin: round; }
.price { font-size: 1.2rem; font-weight: 650; font-variant-numeric: tabular-nums; }
button, .button { display: inline-block; border-radius: .7rem; padding: .65rem 1.35rem;
  border: 1px solid transparent; /* Forced colours show nothing but the border. */
  background: var(--accent); color: var(--accent-ink); font: inherit; font-weight: 600;
  text-decoration: none; cursor: pointer; }
select { flex: 1 1 100%; min-width: 0; padding: .6rem; border-radius: .7rem; border: 1px solid var(--soft);
  background: transparent; color: inherit; font: inherit; }
button:hover, .button:hover { filter: brightness(1.1); }
.badge { display: inline-flex; align-items: center; gap: .45em; padding: .15rem .7rem;
  border-radius: 99px; font-size: .92rem; font-weight: 600; white-space: nowrap;
  color: var(--off); background: var(--off-tint); }
.badge.good { color: var(--good); background: var(--good-tint); }
.badge.bad { color: var(--bad); background: var(--bad-tint); }
.badge.wait { color: var(--wait); background: var(--wait-tint); }
.facts { display: grid; grid-template-columns: minmax(7rem, auto) 1fr; gap: .35rem 1.25rem; margin: 0; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts code { font-size: .85rem; }
@media (max-width: 34rem) { .webhook .facts { grid-template-columns: 1fr; gap: 0; }
  .webhook .facts dd { margin-bottom: .5rem; } }
.orders { list-style: none; padding: .35rem 1.25rem; }
.orders li { display: grid; grid-template-columns: 1fr auto 14rem; align-items: center;
  gap: .35rem 1.25rem; padding: .9rem 0; }
.orders li + li { border-top: 1px solid var(--line); }
.orders .what { min-width: 0; overflow-wrap: anywhere; }
.orders .what small { display: block; color: var(--soft); }
.orders .price { font-size: 1.05rem; text-align: right; }
.orders .badge { justify-self: end; }
@media (max-width: 40rem) { .orders li { grid-template-columns: 1fr auto; }
  .orders .badge { grid-column: 1 / -1; justify-self: start; } }
code, pre { font: .85rem/1.5 ui-monospace, "Cascadia Mono", Menlo, monospace; }
pre { background: var(--code); border-radius: .7rem; padding: .9rem 1rem; margin: .5rem 0 0;
  white-space: pre-wrap; word-break: break-all; }
.mail pre { word-break: normal; overflow-wrap: anywhere; }
.titled { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between;
  gap: .35rem 1rem; margin-bottom: .75rem; }
.titled h2 { margin: 0; }
h3 { font-size: .95rem; margin: 1.25rem 0 .5rem; color: var(--soft); font-weight: 600; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1.25rem; margin: 1.1rem 0 0; }
footer { padding-block: 1.75rem 2.5rem; color: var(--soft); font-size: .9rem; text-wrap: balance; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;
