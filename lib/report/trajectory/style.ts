/** How pages look: light and dark, from 360 pixels wide. One hue for entropy, so that its order is seen without colour. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#5b6570;--line:#d9dee4;--panel:#f5f7f9;--accent:#0b57d0;
--good:#0a6b35;--good-bg:#dcf3e4;--bad:#8a4a00;--bad-bg:#fdeccf;--error:#a3161c;--error-bg:#fde0e0;
--h0:transparent;--h1:#fdf0d5;--h2:#fbd38d;--h3:#f6a03d;--h4:#d9601a;--on-h3:#1b1206;--on-h4:#fff;--mark:#e5006e}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#14171a;--ink:#e6e9ec;--soft:#9aa5b0;--line:#343b43;--panel:#1d2125;
--accent:#8ab4f8;--good:#7fd8a0;--good-bg:#12361f;--bad:#f3bd6f;--bad-bg:#3f2a08;--error:#ff9ea0;--error-bg:#4a1416;
--h1:#3a2c14;--h2:#66461a;--h3:#9c5c14;--h4:#f08b3a;--on-h3:#fff;--on-h4:#1b1206}}
:root[data-theme=dark]{color-scheme:dark;--paper:#14171a;--ink:#e6e9ec;--soft:#9aa5b0;--line:#343b43;--panel:#1d2125;
--accent:#8ab4f8;--good:#7fd8a0;--good-bg:#12361f;--bad:#f3bd6f;--bad-bg:#3f2a08;--error:#ff9ea0;--error-bg:#4a1416;
--h1:#3a2c14;--h2:#66461a;--h3:#9c5c14;--h4:#f08b3a;--on-h3:#fff;--on-h4:#1b1206}
:root[data-theme=light]{color-scheme:light}
*{box-sizing:border-box}
[hidden],.js .trajectory:not(.open),.js .step:not(.open){display:none!important}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main,footer{max-width:1500px;margin:0 auto;padding:0 16px}
h1{font-size:1.5rem;margin:.8em 0 .4em}h2{font-size:1.25rem;line-height:1.3;margin:0 0 .3em;overflow-wrap:anywhere}
h3{font-size:1rem;margin:0 0 .5em}h4{font-size:.8rem;margin:1em 0 .25em;color:var(--soft);font-weight:600}
.panel>h4:first-child{margin-top:0}
a{color:var(--accent)}
.of,.quiet{color:var(--soft);font-weight:400}
.toolbar{position:sticky;top:0;z-index:2;display:none;gap:12px;align-items:center;padding:6px 16px;background:var(--paper);border-bottom:1px solid var(--line)}
.js .toolbar{display:flex}.listing .toolbar #all,.listing #back,.listing #on,.listing #marks,.listing #large{display:none}
#place{flex:1;min-width:0;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;color:var(--soft)}
.listing #place{flex:1}
.buttons{display:flex;gap:4px}
button{min-width:36px;height:34px;padding:0 8px;font:inherit;color:var(--ink);background:var(--panel);border:1px solid var(--line);border-radius:6px;cursor:pointer}
button:disabled{opacity:.4;cursor:default}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.trajectory{padding:14px 0 8px;border-bottom:1px solid var(--line)}
.js .trajectory{border:0}
.badges{display:flex;flex-wrap:wrap;gap:6px;margin:0 0 .4em}
.badge{display:inline-block;padding:1px 9px;border-radius:99px;font-size:.85rem;background:var(--panel);border:1px solid var(--line);white-space:nowrap}
.good{color:var(--good);background:var(--good-bg);border-color:transparent}.bad{color:var(--bad);background:var(--bad-bg);border-color:transparent}
.error{color:var(--error);background:var(--error-bg);border-color:transparent}
.problem{margin:.6em 0;padding:6px 10px;border-radius:6px;color:var(--error);background:var(--error-bg);overflow-wrap:anywhere}
details{margin:0 0 12px;color:var(--soft)}summary{cursor:pointer;overflow-wrap:anywhere}
.facts{margin:.6em 0;font-size:.9rem}
.facts div{display:flex;gap:10px;padding:2px 0}.facts dt{flex:0 0 72px;color:var(--soft)}.facts dd{margin:0;min-width:0;overflow-wrap:anywhere;color:var(--ink)}
.body{display:grid;grid-template-columns:230px minmax(0,1fr);gap:18px;align-items:start}
.list{position:sticky;top:56px;max-height:calc(100vh - 72px);overflow:auto;border:1px solid var(--line);border-radius:8px;background:var(--panel)}
.list ol{list-style:none;margin:0;padding:4px}
.list a{display:block;position:relative;padding:5px 8px 7px 34px;border-radius:5px;color:inherit;text-decoration:none;font-size:.86rem;line-height:1.35}
.list a:hover{background:var(--line)}.list a[aria-current]{background:var(--accent);color:var(--paper)}
.list .n{position:absolute;left:8px;color:var(--soft);font-variant-numeric:tabular-nums}.list a[aria-current] .n{color:inherit}
.list .what{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;overflow-wrap:anywhere}
.unread{color:var(--error)}.list a[aria-current] .unread{color:inherit}
.bar{position:absolute;left:34px;right:8px;bottom:2px;width:calc(100% - 42px);height:3px}
.bar .h-0{fill:var(--line)}.bar .h-1,.bar .h-2{fill:var(--h2)}.bar .h-3{fill:var(--h3)}.bar .h-4{fill:var(--h4)}
.step{margin:0 0 28px;scroll-margin-top:56px}.trajectory{scroll-margin-top:48px}
.columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(300px,380px);gap:18px;align-items:start}
figure{margin:0}
.screen{position:relative;border:1px solid var(--line);border-radius:6px;overflow:hidden;background:#000;max-width:calc(132vh - 160px)}
.screen svg{display:block;width:100%;height:auto}
.store{position:absolute}
.sharp{image-rendering:pixelated}
.gap{fill:var(--panel)}
.missing{position:absolute;inset:0;display:flex;align-items:center;justify-content:center;margin:0;padding:12px;text-align:center;color:var(--soft);font-size:.9rem;overflow-wrap:anywhere;pointer-events:none}
.halo,.ring{fill:none;vector-effect:non-scaling-stroke;stroke-linecap:round;stroke-linejoin:round}
.halo{stroke:#fff;stroke-width:6px;stroke-opacity:.9}.ring{stroke:var(--mark);stroke-width:2.5px}
.dot{fill:var(--mark)}
.tag{fill:var(--mark);font-family:system-ui,sans-serif;font-weight:700;paint-order:stroke;stroke:#fff}
.chips{position:absolute;left:0;right:0;bottom:8px;display:flex;flex-wrap:wrap;justify-content:center;gap:6px;padding:0 8px;pointer-events:none}
.chip{max-width:100%;padding:3px 10px;border-radius:6px;background:rgba(20,16,24,.86);color:#fff;border:2px solid var(--mark);font-size:.9rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.chip.done{border-color:#35b56a}.chip.lost{border-color:#e0563b}
.chip kbd{font:inherit;font-weight:600;padding:0 5px;border:1px solid #fff8;border-radius:4px}.chip kbd+kbd{margin-left:4px}
.unmarked .marks,.unmarked .chips{display:none}
figcaption{padding:6px 2px;font-size:.9rem;overflow-wrap:anywhere}
.actions{margin:0;padding-left:1.6em}.actions.one{list-style:none;padding:0}
.panel{min-width:0}
.thought{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.action{margin:0;padding:8px 10px;border-radius:6px;background:var(--panel);font:.85rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.tokens{margin:0;max-height:16em;overflow:auto;font:.82rem/1.75 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.token{padding:1px 0;border-radius:3px}.token.id{padding:1px 5px;border:1px solid var(--line)}
.h-0{background:var(--h0)}.h-1{background:var(--h1)}.h-2{background:var(--h2)}.h-3{background:var(--h3)}.h-4{background:var(--h4);color:var(--on-h4)}
.h-3{color:var(--on-h3)}:root .h-none{text-decoration:underline dotted var(--soft)}
footer{padding-top:10px;padding-bottom:24px;font-size:.85rem}footer p{margin:.4em 0}
.legend .token{padding:1px 7px;border:1px solid var(--line)}
.filter{display:flex;flex-wrap:wrap;gap:12px;align-items:center;margin:1em 0 .5em}
input,select{font:inherit;height:34px;padding:0 8px;color:var(--ink);background:var(--paper);border:1px solid var(--line);border-radius:6px}
:root:not(.js) .filter,:root:not(.js) .keys{display:none}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:0 0 1em}caption{text-align:left;font-weight:600;padding:.4em 0}
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:600;font-size:.85rem}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.rollouts{width:100%}.rollouts td:first-child{width:100%;overflow-wrap:anywhere}
@media (max-width:1120px){.columns{grid-template-columns:minmax(0,1fr)}}
@media (max-width:760px){main,footer{padding:0 10px}.toolbar{padding:6px 10px}.body{grid-template-columns:minmax(0,1fr);gap:10px}
.list{position:static;max-height:none;overflow-x:auto}.js .list ol{display:flex}.js .list a{width:150px;height:100%}
.toolbar #large{display:none}.trajectory .badge{white-space:normal}.rollouts td:nth-child(4),.rollouts th:nth-child(4){display:none}.keys{display:none}}
@media (min-width:761px){.large .body{grid-template-columns:minmax(0,1fr)}.large .list{display:none}.large .columns{grid-template-columns:minmax(0,1fr)}.large .screen{max-width:none}}
@media print{.toolbar{display:none!important}.step{break-inside:avoid}}
`;
