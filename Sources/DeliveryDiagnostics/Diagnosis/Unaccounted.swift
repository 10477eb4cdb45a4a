/// What the audit finds that cannot be: lost, delivered twice, or from nowhere.
enum Unaccounted {
    static func findings(_ audit: Audit, _ index: DeliveryIndex) -> [Finding] {
        let words = DiagnosisWords(index)
        return AuditFault.Kind.allCases.compactMap { kind in
            guard let count = audit.faults.countByKind[kind],
                let first = audit.faults.told.first(where: { $0.kind == kind })
            else { return nil }
            let posted = first.post < 0 ? -1 : index.posted[Int(first.post)]
            return Finding(
                kind: .unaccounted, severity: .problem,
                problem: "\(words.count(count, "notification")) \(problem(kind)): \(first.text).",
                evidence: posted == first.place ? [posted] : [posted, first.place].filter { $0 >= 0 },
                remedy: "This should not be. Run 'notify-demo audit' on the recording, and report it with it.",
                weight: count)
        }
    }

    private static func problem(_ kind: AuditFault.Kind) -> String {
        switch kind {
        case .lost, .lostAtThreadEnd: "lost"
        case .twoFates: "met two fates"
        case .fateAfterSkip: "delivered to whom it was not for"
        case .tooMany: "reached more observers than matched"
        case .withoutPost: "handled that nobody posted"
        case .notHandedOver: "appeared on another thread"
        case .miscounted: "counted otherwise than recorded"
        case .returnWithoutDeliver: "returned from without a call"
        }
    }
}
