// A scanning service that answers every field with the corpus. It understands just enough of the interface for every page.
import { createServer } from 'node:http';
import { addresses, all, corpus, longLine, rotation } from './corpus.mjs';

const evil = rotation();
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'];
const day = (n) => `2026-01-${String((n % 27) + 1).padStart(2, '0')}T00:00:00Z`;
const stat = { total: corpus.length, lowCount: 1, mediumCount: 2, highCount: 3, criticalCount: 4, purchased: 0, clearedCount: 2 };
const reaches = ['REACHABLE', 'PRESENT_NO_PATH', 'UNKNOWN', 'NOT_PRESENT'];

const states = ['SUCCESS', 'RUNNING', 'FAILED', 'TERMINATED', 'CREATED'];
const task = (n) => ({
  taskId: `t${n}`,
  lang: evil(),
  projectName: corpus[n % corpus.length],
  taskStatus: states[n % states.length],
  createdAt: n % 7 === 6 ? evil() : day(n),
  updatedAt: day(n),
  errCode: 5000,
  errDetail: all,
  resultsStat: stat,
  executedAt: day(n),
  endedAt: evil(),
  createdBy: evil(),
  enableStaticVerification: false,
  params: { originRequestData: Object.fromEntries(corpus.map((text) => [text, evil()])) },
  groupId: 'g1',
  serviceName: corpus[(n + 5) % corpus.length],
  groupTaskIds: ['t0', 't1', 't2'],
  accounts: corpus.map((text) => ({ roleName: text, loginUrl: evil() })),
  progress: 50,
  summary: {
    componentCount: 3,
    unidentified: corpus.map((text) => ({ path: text, reason: evil() })),
    notes: corpus,
    advisoryDate: evil(),
    advisoryCount: 5,
  },
});

const finding = (n, taskId) => ({
  ovId: n,
  vulId: `v${n}`,
  taskId,
  category: evil(),
  description: n === 0 ? longLine : all,
  cweId: evil(),
  severity: severities[n % 4],
  purchaseStatus: evil(),
  price: 0,
  title: corpus[n % corpus.length],
  cveIds: [evil(), evil()],
  component: { name: evil(), version: evil(), purl: evil(), path: evil() },
  fixedVersion: evil(),
  confidence: 'HIGH',
  reachability: n % 5 === 4 ? evil() : reaches[n % 5],
  taskLang: evil(),
  location: all,
  verifyResult: evil(),
  pocScript: n === 1 ? longLine : all,
  pocScriptOutput: all,
  fixSuggestion: JSON.stringify({
    principle: all,
    fixMethod: evil(),
    confidence: 0.5,
    codeExample: { before: all, after: evil(), explanation: evil() },
    references: addresses.map((url) => ({ type: evil(), title: evil(), url })),
  }),
  codeFlow: [
    { file: evil(), line: evil() },
    evil(),
    { [evil()]: evil() },
    ...corpus.map((text) => ({ className: text, method: evil(), file: evil(), line: 7, path: evil() })),
  ],
  codeSnippet: corpus,
  componentTask: true,
  aliases: corpus,
  affectedRange: evil(),
  evidence: corpus.map((text) => ({ kind: text, path: evil(), detail: evil() })),
  references: addresses,
  published: evil(),
  [evil()]: all,
  unknownField: { nested: [all] },
});

const component = (n) => ({
  name: corpus[n % corpus.length],
  version: evil(),
  purl: evil(),
  path: n === 0 ? longLine : all,
  ecosystem: evil(),
  identifiedBy: evil(),
  counts: n % 4 === 3 ? evil() : stat,
  vulIds: ['v0', 'v1', evil()],
  upgradeTo: n % 2 ? evil() : undefined,
  reachability: n % 5 === 4 ? evil() : reaches[n % 5],
  [evil()]: all,
});

const chain = (n) => ({
  vulId: `c${n}`,
  taskId: 't0',
  title: corpus[n % corpus.length],
  category: evil(),
  severity: severities[n % 4],
  cweId: evil(),
  description: all,
  vulIds: ['v0', 'v1', evil()],
  steps: [...corpus, n === 1 ? longLine : all].map((text, at) => ({
    order: at,
    kind: ['entry', 'call', 'sink', evil()][at % 4],
    vulId: evil(),
    category: evil(),
    severity: evil(),
    apiMethod: at % 2 ? '' : evil(),
    apiPath: at % 2 ? '' : evil(),
    description: evil(),
    className: text,
    method: evil(),
    path: evil(),
    file: evil(),
    line: at % 3 ? at : evil(),
    pocScript: evil(),
    pocScriptOutput: evil(),
  })),
  impact: all,
  precondition: all,
  fixSuggestion: n % 2 ? all : JSON.stringify({ principle: all, fixMethod: evil(), references: addresses.map((url) => ({ title: evil(), url })) }),
  createdAt: evil(),
  [evil()]: all,
  unknownField: { nested: [all] },
});

const findings = (taskId) => corpus.map((_, n) => finding(n, taskId));
const shareRow = (n) => ({
  shareId: `s${n}`,
  taskId: `t${n}`,
  projectName: corpus[n % corpus.length],
  shareType: n % 2 ? 'VUL' : 'REPORT',
  vulIds: ['v0'],
  needExtractionCode: true,
  expiredAt: n % 5 === 4 ? evil() : '2030-01-01T00:00:00Z',
  createdAt: day(n),
  createdBy: evil(),
});
const numbered = (make) => corpus.map((_, n) => make(n));
const publicShare = (shareId) => ({
  shareId,
  shareType: 'REPORT',
  projectName: all,
  lang: evil(),
  taskId: 't0',
  expiredAt: '2030-01-01T00:00:00Z',
  needExtractionCode: true,
  resultsStat: stat,
  vuls: findings('t0'),
  exploitChains: numbered(chain),
});

const diagnosis = {
  status: 'FINISHED',
  stageCount: corpus.length,
  stages: corpus.map((text, n) => ({ stageName: text, description: evil(), status: n % 3 ? 'PASS' : 'FAIL', resultInfo: all, hint: evil(), durationMs: n })),
};

const refusal = [400, { success: false, message: all, data: { errCode: 4000, errDetail: all } }];
const page = (data) => [200, { data, total: data.length }];

/** [method, path, answer]; the first that fits answers. */
const routes = [
  ['POST', /\/tasks\/search$/, () => page(numbered(task))],
  ['POST', /\/tasks\/([^/]+)\/results\/search$/, ([id]) => page(findings(id))],
  ['POST', /\/tasks\/([^/]+)\/exploit-chains\/search$/, () => page(numbered(chain))],
  ['POST', /\/tasks\/([^/]+)\/components\/search$/, () => page(numbered(component))],
  ['GET', /\/tasks\/([^/]+)\/results\/stat$/, () => [200, { counts: stat, detail: [{ category: all, cweId: all, severity: 'LOW', count: 1 }] }]],
  ['GET', /\/tasks\/t999$/, () => [404, refusal[1]]],
  ['GET', /\/tasks\/t998$/, () => [500, refusal[1]]],
  ['GET', /\/tasks\/([^/]+)\/results\/v(\d+)$/, ([id, n]) => [200, finding(Number(n), id)]],
  ['GET', /\/tasks\/t(\d+)$/, ([n]) => [200, task(Number(n))]],
  ['POST', /\/shares\/generate-id$/, () => [200, { shareId: 's0' }]],
  ['POST', /\/shares\/search$/, () => page(numbered(shareRow))],
  ['POST', /\/shares\/public\/([^/]+)\/vuls\/v(\d+)$/, ([, n]) => [200, finding(Number(n), 't0')]],
  ['POST', /\/shares\/public\/([^/]+)\/exploit-chains\/c(\d+)$/, ([, n]) => [200, chain(Number(n))]],
  ['POST', /\/shares\/public\/([^/]+)$/, ([id]) => [200, publicShare(id)]],
  ['POST', /\/shares$/, () => [200, { shareId: 's0', expiredAt: '2030-01-01T00:00:00Z' }]],
  ['POST', /\/v2\/tasks$/, () => refusal],
  ['POST', /\/network-diagnostics$/, () => [200, { id: 'd1' }]],
  ['GET', /\/next-stage$/, () => [200, diagnosis]],
  ['GET', /\/random-content$/, () => [200, { content: all, expiredAt: '2030-01-01T00:00:00Z', fileName: evil() }]],
  ['GET', /\/check-exist\/.*/, () => refusal],
  ['POST', /\/files\/upload$/, () => [200, { sha256: '0'.repeat(64) }]],
  ['POST', /\/browsers$/, () => [200, { url: addresses[0], browserBoxId: all }]],
];

function answerTo(method, path) {
  for (const [wanted, pattern, answer] of routes) {
    const found = method === wanted && pattern.exec(path);
    if (found) return answer(found.slice(1));
  }
  return refusal;
}

/** Listens on `port` of this machine until `close` is called; `asked` are the requests that came. */
export async function serve(port = 0) {
  const asked = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const path = new URL(request.url, 'http://service').pathname;
      asked.push(`${request.method} ${path}`);
      const [status, body] = answerTo(request.method, path);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, close: () => server.close() };
}
