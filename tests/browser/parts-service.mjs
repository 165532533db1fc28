// A scanning service with one shop of a few services: components, chains and a group, as a friendly service tells them. What it
// is asked to filter it filters; what it is not asked it gives whole.
import { createServer } from 'node:http';

const day = '2026-11-28T01:00:00Z';
const library = 'shop.war!/WEB-INF/lib';

const component = (name, version, more = {}) => ({
  name,
  version,
  purl: `pkg:maven/${name.replace(':', '/')}@${version}`,
  path: `${library}/${name.split(':')[1]}-${version}.jar`,
  ecosystem: 'Maven',
  identifiedBy: 'pom.properties',
  counts: { total: 0 },
  vulIds: [],
  ...more,
});

const log4j = component('org.apache.logging.log4j:log4j-core', '2.14.1', {
  counts: { total: 3, criticalCount: 2, mediumCount: 1 },
  vulIds: ['v1', 'v2', 'v3'],
  upgradeTo: '2.17.1',
  reachability: 'REACHABLE',
});
const oldLog4j = component('log4j:log4j', '1.2.17', {
  counts: { total: 2, criticalCount: 1, highCount: 1, clearedCount: 2 },
  vulIds: ['v4', 'v5', 'v6', 'v7'],
  reachability: 'PRESENT_NO_PATH',
});
const text = component('org.apache.commons:commons-text', '1.9', {
  counts: { total: 1, criticalCount: 1 },
  vulIds: ['v8'],
  upgradeTo: '1.10.0',
  reachability: 'UNKNOWN',
});
const lodash = component('lodash', '4.17.15', {
  purl: 'pkg:npm/lodash@4.17.15',
  path: 'frontend.zip!/package-lock.json',
  ecosystem: 'npm',
  identifiedBy: 'package-lock.json',
  counts: { total: 1, lowCount: 1 },
  vulIds: ['v9'],
  upgradeTo: '4.17.21',
});
const plain = Array.from({ length: 70 }, (_, at) => component(`org.example.parts:part-${at}`, `1.${at}.0`));
const components = [...plain, lodash, text, oldLog4j, log4j];

const finding = (vulId, severity, cve, title, of, fixedVersion, reachability) => ({
  ovId: Number(vulId.slice(1)),
  vulId,
  taskId: 't1',
  severity,
  category: 'Vulnerable component',
  title,
  description: `${title}. What is known about it stands in the advisory.`,
  cweId: 'cwe-502',
  cveIds: [cve],
  component: { name: of.name, version: of.version, purl: of.purl, path: of.path },
  fixedVersion,
  confidence: 'high',
  reachability,
  purchaseStatus: 'PURCHASED',
});
const findings = [
  finding('v1', 'critical', 'CVE-2021-44228', 'Remote code execution by look-ups in log messages', log4j, '2.15.0', 'REACHABLE'),
  finding('v4', 'critical', 'CVE-2022-23305', 'SQL injection in the JDBC appender', oldLog4j, undefined, 'PRESENT_NO_PATH'),
  finding('v6', 'critical', 'CVE-2019-17571', 'Deserialization in the socket server', oldLog4j, undefined, 'NOT_PRESENT'),
  finding('v2', 'critical', 'CVE-2021-45046', 'Incomplete fix of the look-ups', log4j, '2.16.0', 'REACHABLE'),
  finding('v8', 'critical', 'CVE-2022-42889', 'Code execution by string interpolation', text, '1.10.0', 'UNKNOWN'),
  finding('v5', 'high', 'CVE-2022-23302', 'Deserialization in the JMS sink', oldLog4j, '1.2.18', 'PRESENT_NO_PATH'),
  finding('v7', 'high', 'CVE-2021-4104', 'Deserialization in the JMS appender', oldLog4j, undefined, 'NOT_PRESENT'),
  finding('v3', 'medium', 'CVE-2021-44832', 'Code execution by a configuration file', log4j, '2.17.1', 'PRESENT_NO_PATH'),
  finding('v9', 'low', 'CVE-2021-23337', 'Command injection in templates', lodash, '4.17.21', undefined),
];
const path = [
  ['entry', 'com.example.shop.OrderController', 'find(String, int)', 'OrderController.java', 42, 'shop.war!/WEB-INF/classes'],
  ['call', 'com.example.shop.OrderService', 'load(String)', 'OrderService.java', 88, 'shop.war!/WEB-INF/classes'],
  ['call', 'org.apache.logging.log4j.spi.AbstractLogger', 'error(String, Object)', 'AbstractLogger.java', 2013, log4j.path],
  ['call', 'org.apache.logging.log4j.core.pattern.MessagePatternConverter', 'format(LogEvent, StringBuilder)', 'MessagePatternConverter.java', 132, log4j.path],
  ['sink', 'org.apache.logging.log4j.core.lookup.JndiLookup', 'lookup(LogEvent, String)', 'JndiLookup.java', 51, log4j.path],
];
const step = ([kind, className, method, file, line, where], at) => ({
  order: at + 1,
  kind,
  className,
  method,
  file,
  line,
  path: where,
  category: '',
  severity: 'critical',
  apiMethod: kind === 'entry' ? 'GET' : '',
  apiPath: kind === 'entry' ? '/orders/{id}' : '',
  description: kind === 'entry' ? 'Spring handler: anybody who reaches the service can call it.' : '',
  vulId: kind === 'sink' ? 'v1' : undefined,
});
const chain = (vulId, title, severity) => ({
  vulId,
  taskId: 't1',
  title,
  category: 'Remote code execution',
  severity,
  cweId: 'cwe-502',
  description: 'A request reaches the look-up of log messages. Derived from bytecode, not executed.',
  stepCount: path.length,
  vulIds: ['v1', 'v2'],
  steps: path.map(step),
  createdAt: day,
  impact: 'Code of an attacker is executed with the rights of the service.',
  precondition: 'The value of the path parameter is logged as it came.',
  fixSuggestion: JSON.stringify({ principle: 'Do not resolve look-ups in messages.', fix_method: 'Upgrade log4j-core to 2.17.1.' }),
});
const chains = [
  chain('c1', 'GET /orders/{id} reaches JndiLookup.lookup', 'critical'),
  chain('c2', 'POST /login reaches JndiLookup.lookup', 'high'),
];

const stat = { total: 7, criticalCount: 4, highCount: 1, mediumCount: 1, lowCount: 1, purchased: 7, clearedCount: 2 };
const task = (taskId, serviceName, taskStatus, more = {}) => ({
  taskId,
  projectName: 'Shop, autumn release',
  lang: 'JAVA',
  taskStatus,
  createdAt: `2026-11-28T01:00:0${taskId.slice(1)}Z`,
  updatedAt: day,
  createdBy: 'alice',
  groupId: 'g1',
  serviceName,
  groupTaskIds: ['t1', 't2', 't3'],
  accounts: [
    { roleName: 'admin', loginUrl: 'https://shop.example/login' },
    { roleName: 'normal', loginUrl: 'https://shop.example/login' },
  ],
  params: { originRequestData: { primarySourceCodeFileName: 'shop.war' } },
  resultsStat: stat,
  summary: { componentCount: components.length, unidentified: [], notes: [], advisoryDate: '2026-11-20', advisoryCount: 9000 },
  ...more,
});
const nothing = { total: 0 };
const tasks = [
  task('t1', 'orders', 'SUCCESS'),
  task('t2', 'payments', 'FAILED', { errDetail: 'The archive is damaged at entry 12.', resultsStat: nothing, summary: undefined }),
  task('t3', 'catalogue', 'RUNNING', { progress: 40, resultsStat: nothing, summary: undefined }),
  task('t4', 'older', 'SUCCESS', { groupId: undefined, serviceName: undefined, projectName: 'A library alone', accounts: [] }),
];

const passes = (row, { field, operator, value }) => {
  const have = row[field];
  if (operator === 'IN') return value.some((one) => String(one).toLowerCase() === String(have).toLowerCase());
  if (operator === 'LIKE') return String(have).toLowerCase().includes(String(value).toLowerCase());
  return operator === 'EQ' ? have === value : true;
};
const found = (rows, { page = 0, size = 10, filters = [] } = {}) => {
  const fit = rows.filter((row) => filters.every((filter) => passes(row, filter)));
  return [200, { data: fit.slice(page * size, page * size + size), total: fit.length }];
};
const one = (rows, key, id) => {
  const row = rows.find((candidate) => candidate[key] === id);
  return row ? [200, row] : [404, { message: 'not there' }];
};
const flow = path.map(([, className, method, file, line, where]) => ({ className, method, file, line, path: where }));
const detail = (id) => {
  const [status, row] = one(findings, 'vulId', id);
  const codeFlow = row.reachability === 'REACHABLE' ? flow : [];
  return [status, { ...row, codeFlow, evidence: [{ kind: 'pom.properties', path: library, detail: 'name and version' }] }];
};
const share = { shareId: 's0', shareType: 'REPORT', projectName: 'Shop, autumn release', lang: 'JAVA', taskId: 't1', vuls: findings, exploitChains: chains };

const routes = [
  [/\/tasks\/search$/, (_, body) => found(tasks, body)],
  [/\/tasks\/t1\/results\/search$/, (_, body) => found(findings, body)],
  [/\/tasks\/t1\/components\/search$/, (_, body) => found(components, body)],
  [/\/tasks\/t1\/exploit-chains\/search$/, (_, body) => found(chains, body)],
  [/\/tasks\/t4\/(results|exploit-chains)\/search$/, () => found([])],
  [/\/tasks\/t1\/results\/(v\d+)$/, ([id]) => detail(id)],
  [/\/v1\/tasks\/(t\d)$/, ([id]) => one(tasks, 'taskId', id)],
  [/\/shares\/public\/s0\/exploit-chains\/(c\d)$/, ([id]) => one(chains, 'vulId', id)],
  [/\/shares\/public\/s0\/vuls\/(v\d)$/, ([id]) => detail(id)],
  [/\/shares\/public\/s0$/, () => [200, share]],
  [/\/shares\/generate-id$/, () => [200, { shareId: 's0' }]],
  [/\/shares$/, () => [200, { shareId: 's0' }]],
];

function answerTo(path, body) {
  for (const [pattern, answer] of routes) {
    const match = pattern.exec(path);
    if (match) return answer(match.slice(1), body);
  }
  return [404, { message: 'no such operation' }];
}

/** Listens on a free port of this machine until `close` is called. */
export async function serve() {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
      const path = new URL(request.url, 'http://service').pathname;
      const sent = Buffer.concat(chunks).toString();
      const [status, body] = answerTo(path, sent.startsWith('{') ? JSON.parse(sent) : undefined);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
