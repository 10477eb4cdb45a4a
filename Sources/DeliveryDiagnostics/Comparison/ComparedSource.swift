internal import TerminalText

/// What a thread does in a line of a run, such as `Saved is handled on` a thread.
struct RunEvent {
    struct Text: Hashable {
        /// A message, or the name of a notification; empty if there is no name.
        var subject: String
        /// Before a thread: `is handled on`.
        var verb: String
        var isMessage = false
        var isOutcome = false

        /// The subject of a sentence.
        var words: String {
            if isMessage { return ShownText.quoted(Excerpt.of(subject.replacing("\n", with: " … "))) }
            return subject.isEmpty ? "what has no name" : ShownText.name(Excerpt.of(subject))
        }

        /// `Saved is handled on main`, or without a place `Saved is handled`.
        func clause(_ place: String? = nil) -> String {
            "\(words) \(place.map { "\(verb) \($0)" } ?? verb.split(separator: " ").dropLast().joined(separator: " "))"
        }
    }

    var text: Text
    /// The thread or request, a name of the run; -1 if it is unknown.
    var thread: Int
    /// Does everything in order: a thread of a recording, or a lane of a log.
    var lane: Int
    /// True for an `append`, which stands for its handler.
    var isHandOver = false
}

/// A recording or a text log as a run, and what it says about its lines.
protocol ComparedSource {
    var run: ComparedRun { get }
    /// The path of its file.
    var path: String { get }
    var threadCount: Int { get }
    /// False if what the run does not show may be true.
    var isComplete: Bool { get }

    /// What is compared of a line, the most important part first: the one place that decides what "the same" means.
    func parts(_ line: Int) -> [ComparedRun.Part]
    /// Nil if the line is no event of its own, such as a `return`.
    func event(_ line: Int) -> RunEvent?
    /// Lines of equal times have no order.
    func time(_ line: Int) -> String
    /// A thread in a report.
    func place(_ thread: Int) -> String
    /// What a thread is in each run; nil if nothing tells it from others.
    func role(_ thread: Int) -> String?
    /// A line in a report; the file if there is none.
    func side(_ line: Int?) -> RunDifference.Side
}
