// Texts that try to become something else: markup, script, template, other direction, other line.
const mark = 'window.__xss=1';

export const corpus = [
  `<script>${mark}</script>`,
  `<svg onload=${mark}>`,
  `<img src=x onerror=${mark}>`,
  `"><script>${mark}</script>`,
  `' onfocus='${mark}' autofocus='`,
  `" onmouseover="${mark}" x="`,
  `</script><script>${mark}</script>`,
  `</title></textarea></style><svg/onload=${mark}>`,
  `javascript:${mark}`,
  `{{constructor.constructor('${mark}')()}} \${${mark}} {% raw %} <%= ${mark} %> #{${mark}}`,
  `<iframe srcdoc="<script>parent.__xss=1</script>"></iframe>`,
  `<meta http-equiv=refresh content="0;url=http://stranger.example/">`,
  `<link rel=stylesheet href=http://stranger.example/x.css><base href=http://stranger.example/>`,
  `<form action=http://stranger.example/><input name=csrf><button>go</button></form>`,
  `\u202Egnp.exe\u2066 \u200Bzero\uFEFF width`,
  'nul\u0000byte \u0007bell \u001B[31mred',
  `&lt;script&gt;${mark}&lt;/script&gt; &#x3c;script>`,
  'W'.repeat(400),
  '<!--<script>--><b>bold</b><style>*{display:none}</style>',
];

export const addresses = [
  `javascript:${mark}`,
  `JaVaScRiPt:${mark}`,
  ` \tjava\nscript:${mark}`,
  `data:text/html,<script>${mark}</script>`,
  'vbscript:msgbox(1)',
  `https://good.example/"onclick="${mark}`,
  'https://user:password@good.example/',
  '//stranger.example/',
  'https://good.example/\u202Efdp.exe',
];

/** Everything at once, in one field. */
export const all = corpus.join(' ');

/** One line of a megabyte without a place to break it. */
export const longLine = `<svg onload=${mark}>${'M'.repeat(1 << 20)}`;

/** The next text of the corpus each time, so that every one gets into many fields. */
export function rotation() {
  let next = 0;
  return () => corpus[next++ % corpus.length];
}
