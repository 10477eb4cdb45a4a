internal import DeliveryRecording

/// Reports the faults that the audit finds, one finding for each kind.
enum Unaccounted {
    static func findings(_ evidence: Evidence) -> [Finding] {
        let (audit, words) = (evidence.audit, evidence.words)
        return AuditFault.Kind.allCases.compactMap { kind in
            guard let count = audit.faults.countByKind[kind],
                let first = audit.faults.reported.first(where: { $0.kind == kind })
            else { return nil }
            let entry = words.index.entry(first.entry)
            return Finding(
                severity: .problem,
                problem: "Not accounted for, \(words.times(count)): \(first.text).",
                evidence: [words.posted(entry), first.entry],
                remedy:
                    "This is a bug of the library. Run 'notify-demo audit' on the recording, and report the output.",
                weight: count, name: entry.post < 0 ? -1 : words.index.name(ofPost: entry.post))
        }
    }
}

extension Finding.Kind {
    static let unaccounted = Finding.Kind(
        "unaccounted", "a post has no outcome for an observer, or two: a bug of the library")
}
