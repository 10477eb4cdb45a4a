internal import DeliveryRecording

/// Reports the faults that the audit finds: lost, delivered twice, or of unknown origin.
enum Unaccounted {
    static func findings(_ audit: Audit) -> [Finding] {
        let words = RecordWords(audit.index)
        return AuditFault.Kind.allCases.compactMap { kind in
            guard let count = audit.faults.countByKind[kind],
                let first = audit.faults.reported.first(where: { $0.kind == kind })
            else { return nil }
            return Finding(
                kind: .unaccounted, severity: .problem,
                problem: "\(problem(kind, words.times(count))): \(first.text).",
                evidence: [first.post < 0 ? -1 : audit.index.posts[Int(first.post)].posted, first.entry],
                remedy:
                    "This is a bug of the library. Run 'notify-demo audit' on the recording, and report the output.",
                weight: count, name: first.post < 0 ? -1 : audit.index.name(ofPost: first.post))
        }
    }

    private static func problem(_ kind: AuditFault.Kind, _ times: String) -> String {
        switch kind {
        case .lost, .lostAtThreadEnd: "Lost \(times)"
        case .twoOutcomes: "Two outcomes of one post for one observer, \(times)"
        case .outcomeAfterSkip: "An outcome after a skip, \(times)"
        case .tooMany: "More observers than matched, \(times)"
        case .withoutPost: "Handled without a post, \(times)"
        case .notHandedOver: "Delivered on another thread without a handover, \(times)"
        case .miscounted: "Counters that differ from the records, \(times)"
        case .returnWithoutDeliver: "A handler returned without a call, \(times)"
        }
    }
}
