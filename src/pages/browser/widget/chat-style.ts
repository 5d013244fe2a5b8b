/** Style of the chat; its colors are variables of the button's style. */
export const chatStyle = `
* { box-sizing: border-box }
.dialog {
  position: fixed; bottom: 20px; z-index: 2147483000; display: flex; flex-direction: column; width: 380px; height: min(620px, calc(100dvh - 40px));
  overflow: hidden; border: 1px solid var(--line); border-radius: 14px; color: var(--text); background: var(--surface); box-shadow: 0 8px 32px #0005;
}
.dialog.right { right: 20px }
.dialog.left { left: 20px }
.dialog.page { inset: 0; width: 100%; height: 100dvh; border: 0; border-radius: 0; box-shadow: none }
.page > * { width: 100%; max-width: 720px; margin-inline: auto }
@media (max-width: 480px), (max-height: 420px) { .dialog { inset: 0; width: 100%; height: 100dvh; border: 0; border-radius: 0 } }
header { display: flex; flex: none; align-items: center; gap: 8px; min-height: 56px; padding: 6px 8px 6px 16px; color: var(--on-accent); background: var(--accent) }
[dir=rtl] header { padding: 6px 16px 6px 8px }
h2 { flex: 1; min-width: 0; margin: 0; font-size: 17px; overflow-wrap: anywhere }
button { font: inherit; cursor: pointer }
.close, .send, .attach { display: grid; flex: none; place-items: center; width: 44px; height: 44px; padding: 0; border: 0; border-radius: 8px; color: inherit; background: none }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
header :focus-visible { outline-color: var(--on-accent); outline-offset: -4px }
.log:focus-visible { outline-offset: -3px }
.log { display: flex; flex: 1; flex-direction: column; gap: 10px; min-height: 0; padding: 16px; overflow-y: auto; overscroll-behavior: contain }
.bubble { max-width: 85%; padding: 8px 12px; border-radius: 12px; overflow-wrap: anywhere; background: var(--bubble) }
.theirs { align-self: flex-start; border-start-start-radius: 2px }
.own { align-self: flex-end; border-end-end-radius: 2px; color: var(--on-accent); background: var(--accent) }
.own .body p { white-space: pre-wrap }
.bubble p, .bubble ul, .bubble ol, .bubble pre { margin: 0 0 6px }
.bubble .body > :last-child { margin-bottom: 0 }
.bubble ul, .bubble ol { padding-inline-start: 22px }
.bubble pre { padding: 8px; overflow-x: auto; border-radius: 6px; background: var(--surface) }
.bubble code { font: 14px/1.5 ui-monospace, monospace }
.picture { display: block; max-width: 100%; max-height: 320px; border-radius: 8px }
.theirs a { color: var(--link) }
.own a { color: inherit }
.byline, .told { font-size: 12px }
.theirs .byline { color: var(--faint) }
.bubble .byline { margin-bottom: 2px }
.bubble .told { margin: 4px 0 0 }
.sending, .waiting { outline: 1px dashed var(--on-accent); outline-offset: -3px }
.refused { color: var(--error); background: var(--surface); border: 1px solid var(--error) }
.note { align-self: center; margin: 0; font-size: 13px; text-align: center; color: var(--faint) }
.rating { align-self: stretch; margin: 4px 0; padding: 10px 12px; border: 1px solid var(--line); border-radius: 12px }
.rating legend { padding: 0 6px; overflow-wrap: anywhere }
.scale { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; font-size: 13px; color: var(--faint) }
.scale button { min-width: 40px; height: 40px; border: 1px solid var(--line); border-radius: 8px; color: var(--text); background: var(--surface) }
.scale [aria-pressed=true] { color: var(--on-accent); background: var(--accent) }
.rating .told { margin: 6px 0 0 }
.said { margin: 6px 0 0; white-space: pre-wrap; overflow-wrap: anywhere }
.more { display: flex; align-items: flex-end; gap: 8px; margin-top: 8px }
.more button { min-height: 40px; padding: 4px 12px; border: 0; border-radius: 8px; color: var(--on-accent); background: var(--accent) }
.earlier { align-self: center; min-height: 32px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 16px; color: inherit; background: none }
.typing, .state { flex: none; margin: 0; padding: 0 16px; font-size: 13px; color: var(--faint) }
.typing:not(:empty), .state:not(:empty) { padding-bottom: 6px }
.dots i { display: inline-block; width: 5px; height: 5px; margin-inline-end: 3px; border-radius: 50%; background: currentColor }
.form { display: flex; flex: none; align-items: flex-end; gap: 8px; padding: 10px 12px; border-top: 1px solid var(--line) }
textarea {
  flex: 1; min-width: 0; min-height: 44px; max-height: 140px; padding: 9px 12px; resize: none; border: 1px solid var(--line); border-radius: 10px;
  font: inherit; color: inherit; background: var(--surface);
}
textarea::placeholder { color: var(--faint); opacity: 1 }
.attach { color: var(--faint) }
.send { color: var(--on-accent); background: var(--accent) }
[dir=rtl] .send svg { transform: scaleX(-1) }
@media (prefers-reduced-motion: no-preference) {
  .dots i { animation: dot 1.2s infinite }
  .dots i:nth-child(2) { animation-delay: .2s }
  .dots i:nth-child(3) { animation-delay: .4s }
  .dialog:not(.page) { animation: appear .15s ease-out }
  @keyframes dot { 50% { opacity: .2 } }
  @keyframes appear { from { opacity: 0; transform: translateY(8px) } }
}
@media (forced-colors: active) { .bubble, .launcher, .send { border: 1px solid } }
`
