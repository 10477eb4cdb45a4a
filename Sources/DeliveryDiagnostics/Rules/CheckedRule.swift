internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// A rule and the recording that it is checked against. What each clause means is in the extensions.
struct CheckedRule {
    let rule: Rule
    let words: RecordWords
    var index: RecordingIndex { words.index }

    func holds(_ explanation: String) -> RuleResult { RuleResult(rule, holds: true, explanation) }

    func fails(_ explanation: String, _ findings: [Finding] = []) -> RuleResult {
        RuleResult(rule, holds: false, explanation, findings)
    }

    /// Every clause but those that need no index.
    func result() -> RuleResult {
        // No record has the name of a misspelt rule.
        let texts = rule.clause.names
        let names = texts.map { words.recording.name(called: $0) }
        if let missing = names.firstIndex(of: nil) {
            let text = texts[missing]
            let explanation = Self.missing(
                "the notification \(Rule.name(text))", similar: words.recording.names(similarTo: text))
            if case .atMost = rule.clause { return holds(explanation) }
            return fails(explanation)
        }
        let name = names.first ?? nil
        return switch rule.clause {
        case .delivered: delivered(name)
        case .handlers(_, let isThere, let place): handlers(of: name ?? -1, isThere, place)
        case .observed: observed(name)
        case .within(let time, _): delivered(name ?? -1, within: time)
        case .waiting(let count, _): waiting(name ?? -1, atMost: count)
        case .before(_, _, let isEach, let place): handled(names[0] ?? -1, before: names[1] ?? -1, isEach, place)
        case .noHandler(let place, let time): noHandler(on: place, longerThan: time)
        case .noPost(let time): noPost(longerThan: time)
        case .noObserverLeft: noObserverLeft()
        case .atMost(let count, _): posted(name ?? -1, atMost: count)
        case .noFinding, .complete: holds("")
        }
    }

    // MARK: Threads

    /// For each thread: true if it is there. All are if there is no place.
    func threads(on place: Rule.Place?) -> [Bool] {
        words.recording.threads.indices.map { thread in
            switch place {
            case nil: true
            case .main: index.isMain(Int32(thread))
            case .thread(let name): words.recording.isThread(thread, called: name)
            }
        }
    }

    /// Says that the recording does not have the thread of a place, and which similar name there is; nil if it has.
    /// Every process has a main thread.
    ///
    /// - Parameter threads: the threads of the place.
    func missing(_ place: Rule.Place?, _ threads: [Bool]) -> String? {
        guard case .thread(let name)? = place, !threads.contains(true) else { return nil }
        return Self.missing(
            "the thread \(Rule.name(name))", similar: words.recording.threadName(similarTo: name).map { [$0] } ?? [])
    }

    private static func missing(_ what: String, similar: [String]) -> String {
        let names = similar.map { Excerpt.of(Rule.name($0)) }.joined(separator: " or ")
        return "the recording does not have \(Excerpt.of(what))"
            + (similar.isEmpty ? "" : "; did you mean \(names)?")
    }

    // MARK: Times

    /// A call of a handler or of a post.
    struct Call {
        /// Calls of one kind, such as those of an observer, are one finding.
        let kind: [Int32]
        let begin: Int32
        let end: Int32
        let time: UInt64
    }

    /// - Parameters:
    ///   - rest: what else is true if it holds.
    ///   - finding: the sentence for the longest call, with the words `up to ` if there are several that are too long.
    func no(
        _ noun: String, in calls: [Call], longerThan limit: ElapsedTime, rest: String = "",
        finding: (Call, _ time: String, _ isLonger: String) -> String
    ) -> RuleResult {
        let all = counted(calls.count, noun)
        let longest = ElapsedTime.text(calls.map(\.time).max() ?? 0)
        let long = calls.filter { $0.time > limit.duration.nanoseconds }
        guard !long.isEmpty else { return holds(calls.isEmpty ? all : "\(all), the longest \(longest)\(rest)") }
        return fails(
            "\(long.count) of \(all) took longer, up to \(longest)",
            Dictionary(grouping: long, by: \.kind).values.map { calls in
                let longest = calls.reduce(calls[0]) { $1.time > $0.time ? $1 : $0 }
                let isOne = calls.count == 1
                return Finding(
                    problem: finding(
                        longest, (isOne ? "" : "up to ") + ElapsedTime.text(longest.time),
                        isOne ? "" : ", and was too long \(words.times(calls.count))"),
                    evidence: [longest.begin, longest.end])
            })
    }
}
