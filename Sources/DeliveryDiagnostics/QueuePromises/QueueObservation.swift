/// What was seen of a queue in a process of its own.
struct QueueObservation: Sendable, Hashable {
    enum End: Sendable, Hashable {
        case normal
        /// By a signal, with the last words that the process said.
        case signal(Int32, lastWords: String?)
        /// It did not come to its end.
        case hangs
    }

    /// What happened, a few words for each, in order.
    var events: [String]
    var end = End.normal
}

extension QueueObservation: CustomStringConvertible {
    var description: String {
        let seen = events.joined(separator: ", ")
        let last: String? =
            switch end {
            case .normal: events.isEmpty ? "nothing" : nil
            case .signal(let signal, let words):
                "\(seen.isEmpty ? "ends" : "then ends") by signal \(signal)\(words.map { ": \($0)" } ?? "")"
            case .hangs: seen.isEmpty ? "hangs" : "then hangs"
            }
        return [seen.isEmpty ? nil : seen, last].compactMap(\.self).joined(separator: ", ")
    }
}
