//! The words of a report in each language.

use serde::Serialize;

use crate::contract::reports::ReportLanguage;
use crate::contract::results::{Confidence, Reachability, Severity};

/// Headings, labels and sentences. `{}` stands where a value goes.
#[derive(Serialize)]
pub(super) struct Words {
    /// Language tag.
    pub(super) lang: &'static str,
    pub(super) title: &'static str,
    pub(super) confidential: &'static str,
    pub(super) project: &'static str,
    pub(super) task: &'static str,
    pub(super) status: &'static str,
    pub(super) succeeded: &'static str,
    pub(super) language: &'static str,
    pub(super) artifact: &'static str,
    pub(super) created_by: &'static str,
    pub(super) created_at: &'static str,
    pub(super) ended_at: &'static str,
    pub(super) data: &'static str,
    pub(super) data_value: &'static str,
    pub(super) by_severity: &'static str,
    pub(super) severity: &'static str,
    pub(super) count: &'static str,
    pub(super) total: &'static str,
    pub(super) summary: &'static str,
    pub(super) components: &'static str,
    pub(super) unidentified: &'static str,
    pub(super) unidentified_lead: &'static str,
    pub(super) notes: &'static str,
    pub(super) method: &'static str,
    pub(super) method_text: &'static str,
    pub(super) findings: &'static str,
    pub(super) nothing_found: &'static str,
    pub(super) finding_id: &'static str,
    pub(super) vulnerability: &'static str,
    pub(super) also_known: &'static str,
    pub(super) weakness: &'static str,
    pub(super) category: &'static str,
    pub(super) component: &'static str,
    pub(super) version: &'static str,
    pub(super) path: &'static str,
    pub(super) affected: &'static str,
    pub(super) fixed: &'static str,
    pub(super) no_fix: &'static str,
    pub(super) confidence: &'static str,
    pub(super) published: &'static str,
    pub(super) description: &'static str,
    pub(super) evidence: &'static str,
    pub(super) fix: &'static str,
    pub(super) before: &'static str,
    pub(super) after: &'static str,
    pub(super) references: &'static str,
    pub(super) unknown: &'static str,
    pub(super) missing_glyphs: &'static str,
    pub(super) reachability: &'static str,
    pub(super) cleared: &'static str,
    pub(super) cleared_lead: &'static str,
    pub(super) chains: &'static str,
    pub(super) chains_lead: &'static str,
    severities: [&'static str; 4],
    confidences: [&'static str; 3],
    reachabilities: [&'static str; 4],
}

impl Words {
    pub(super) const fn of(language: ReportLanguage) -> &'static Self {
        match language {
            ReportLanguage::English => &ENGLISH,
            ReportLanguage::Chinese => &CHINESE,
        }
    }

    pub(super) const fn severity(&self, severity: Severity) -> &'static str {
        let [critical, high, medium, low] = self.severities;
        match severity {
            Severity::Critical => critical,
            Severity::High => high,
            Severity::Medium => medium,
            Severity::Low => low,
        }
    }

    pub(super) const fn reachability(&self, reachability: Reachability) -> &'static str {
        let [reachable, no_path, unknown, not_present] = self.reachabilities;
        match reachability {
            Reachability::Reachable => reachable,
            Reachability::PresentNoPath => no_path,
            Reachability::Unknown => unknown,
            Reachability::NotPresent => not_present,
        }
    }

    pub(super) const fn confidence(&self, confidence: Confidence) -> &'static str {
        let [high, medium, low] = self.confidences;
        match confidence {
            Confidence::High => high,
            Confidence::Medium => medium,
            Confidence::Low => low,
        }
    }
}

static ENGLISH: Words = Words {
    lang: "en",
    title: "Security scan report",
    confidential: "Confidential: this report names weaknesses of the software it is about.",
    project: "Project",
    task: "Task",
    status: "Status",
    succeeded: "Finished",
    language: "Language",
    artifact: "Artifact",
    created_by: "Started by",
    created_at: "Started",
    ended_at: "Finished at",
    data: "Advisory data",
    data_value: "{} advisories, the newest of {}",
    by_severity: "Findings by severity",
    severity: "Severity",
    count: "Findings",
    total: "Total",
    summary: "What was scanned",
    components: "Components identified",
    unidentified: "Not identified",
    unidentified_lead: "Nothing can be said about these parts of the artifact:",
    notes: "Notes",
    method: "How to read this",
    method_text: "Components were identified inside the artifact and their versions compared with published advisories. \
                  A finding says that a version lies in an affected range. Where bytecode tells more, it also says whether the code is there \
                  and whether calls lead to it; that is derived, not executed.",
    findings: "Findings",
    nothing_found: "No published advisory matches a component that was identified. The data held {} advisories, the newest of {}. \
                    This says nothing about parts that were not identified.",
    finding_id: "Finding",
    vulnerability: "Vulnerability",
    also_known: "Also known as",
    weakness: "Weakness",
    category: "Category",
    component: "Component",
    version: "Version",
    path: "Path",
    affected: "Affected versions",
    fixed: "Fixed in",
    no_fix: "no fixed version is known",
    confidence: "Confidence",
    published: "Published",
    description: "Description",
    evidence: "Evidence",
    fix: "Fix",
    before: "Before",
    after: "After",
    references: "References",
    unknown: "unknown",
    missing_glyphs: "Kinds of characters that no installed font can draw, shown by their code instead: {}.",
    reachability: "Reachability",
    cleared: "Cleared by class presence",
    cleared_lead: "The version of these matches an advisory, but the vulnerable class is nowhere in the artifact. They are not counted.",
    chains: "Exploit chains",
    chains_lead: "How a request leads to vulnerable code, step by step. Derived from bytecode, not executed.",
    severities: ["Critical", "High", "Medium", "Low"],
    confidences: ["high", "medium", "low"],
    reachabilities: [
        "reachable: calls lead from an entry point to it",
        "present, no path of calls seen",
        "unknown",
        "not present: the vulnerable class is not there",
    ],
};

static CHINESE: Words = Words {
    lang: "zh",
    title: "安全扫描报告",
    confidential: "机密：本报告列出了所涉软件的安全弱点。",
    project: "项目",
    task: "任务",
    status: "状态",
    succeeded: "已完成",
    language: "语言",
    artifact: "制品",
    created_by: "发起人",
    created_at: "开始时间",
    ended_at: "完成时间",
    data: "漏洞数据",
    data_value: "{} 条公告，最新日期 {}",
    by_severity: "按严重程度统计",
    severity: "严重程度",
    count: "数量",
    total: "合计",
    summary: "扫描范围",
    components: "已识别组件",
    unidentified: "未识别部分",
    unidentified_lead: "对制品的下列部分无法给出结论：",
    notes: "备注",
    method: "如何阅读本报告",
    method_text: "本次扫描识别制品中的组件，并将其版本与已发布的安全公告进行比对。\
                  一条结果表示该版本处于受影响范围内；若字节码提供更多信息，还会说明相关代码是否存在、是否有调用可达。这是推导所得，并未执行。",
    findings: "扫描结果",
    nothing_found: "已识别的组件没有匹配到任何已发布的公告。数据共 {} 条公告，最新日期 {}。对未识别的部分不作结论。",
    finding_id: "结果编号",
    vulnerability: "漏洞",
    also_known: "别名",
    weakness: "弱点类型",
    category: "类别",
    component: "组件",
    version: "版本",
    path: "路径",
    affected: "受影响版本",
    fixed: "修复版本",
    no_fix: "尚无已知的修复版本",
    confidence: "可信度",
    published: "发布日期",
    description: "描述",
    evidence: "证据",
    fix: "修复建议",
    before: "修改前",
    after: "修改后",
    references: "参考资料",
    unknown: "未知",
    missing_glyphs: "有 {} 种字符没有可用字体，以编码代替显示。",
    reachability: "可达性",
    cleared: "因类不存在而排除",
    cleared_lead: "下列组件的版本符合公告，但制品中没有存在缺陷的类，因此不计入统计。",
    chains: "利用链",
    chains_lead: "请求如何一步步到达存在缺陷的代码。由字节码推导得出，未经执行。",
    severities: ["严重", "高危", "中危", "低危"],
    confidences: ["高", "中", "低"],
    reachabilities: ["可达：从入口点有调用路径", "存在，未见调用路径", "未知", "不存在：没有存在缺陷的类"],
};
