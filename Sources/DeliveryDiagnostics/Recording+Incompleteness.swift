package import DeliveryRecording
internal import TerminalText

/// What a recording does not have, in words.
extension Recording {
    /// Which records are missing, or that there are none; nil if the recording has all.
    package var incompleteness: String? {
        if entries.isEmpty { return "it has no records" }
        let reasons = completeness.enumerated().compactMap { process, completeness -> String? in
            guard case .truncated(let reason) = completeness else { return nil }
            return (processes.count > 1 ? "of process \(processes[process].id), " : "") + reason.words
        }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    /// The processes that ended without notice, of which no other record is missing: indices in `processes`.
    package var endedWithoutNotice: [Int] {
        completeness.indices.filter { completeness[$0] == .endedWithoutNotice }
    }

    /// Sentences about what the recording does not say, each after its name.
    package var notes: [String] {
        let notes = incompleteness.map { ["the recording is incomplete: \($0)"] } ?? []
        let ended = endedWithoutNotice.map { "process \(processes[$0].id) ended without notice" }
        return (notes + ended).map { "\(ShownText.escaped(source)): \($0)" }
    }
}

extension Recording.Truncation {
    fileprivate var words: String {
        switch self {
        case .line: "the file ends within a line"
        case .lost(let count): "\(counted(count, "record")) \(count == 1 ? "was" : "were") lost"
        case .missing(let count): "\(counted(count, "record")) \(count == 1 ? "is" : "are") missing"
        case .damaged: "lines of the file are damaged"
        case .noEnd: "there is no end record, so the last records may be missing"
        }
    }
}
