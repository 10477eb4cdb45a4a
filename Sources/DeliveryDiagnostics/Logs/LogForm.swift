internal import DeliveryRecording
internal import TerminalText

/// A form of the lines of a text log: where the thread and the message are in a line.
///
/// To add a form, add a value to `all`, and a row to `LogFormTests`.
package struct LogForm: Sendable {
    package let name: String
    /// Matches a whole line. Named captures: `text`, and one of `thread` (an id), `name` (of a thread) and `chain`
    /// (what the line belongs to, such as a request); optionally `time`, `process` (an id) and `level`, which is
    /// compared.
    let pattern: String
    /// Matches a line of this form in which no thread is printed.
    var patternWithoutThread: String?
    /// How a program prints its threads in this form.
    let advice: String
    /// How a line begins that is not part of the log.
    var comment: String?
    /// True if `thread` may be an id or a name.
    var isCustom = false

    /// The forms that are recognised. Of those that match equally many lines, the first one counts.
    package static let all: [LogForm] = [
        LogForm(
            name: "oslog",
            pattern: #"(?<time>\#(date)[-+.\d]*)\s+(?<level>[AEFIS](?= )|Db|Df)\s+.+?"#
                + #"\[(?<process>\d+):(?<thread>[\da-fA-F]+)\](?: (?<text>.*))?"#,
            patternWithoutThread: #"\#(date)[-+.\d]* \S+ [^\[]+\[\d+\]: .*"#, advice: "log show --style compact"),
        LogForm(
            name: "oslog",
            pattern: #"(?<time>\#(date)[-+.\d]*)\s+(?<thread>0x[\da-f]+)\s+(?<level>\w+)\s+0x[\da-f]+\s+"#
                + #"(?<process>\d+)\s+\d+\s+(?<text>.*)"#,
            advice: "log show"),
        LogForm(
            name: "nslog",
            pattern: #"(?<time>\#(date)[-+.\d]*) .+?\[(?<process>\d+):(?<thread>[\da-fA-F]+)\](?: (?<text>.*))?"#,
            advice: "NSLog prints them: 2016-02-13 22:05:12.856 test[865:45102] a message", comment: "#"),
        LogForm(
            name: "logcat",
            pattern: #"(?<time>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?: [-+]\d{4})?) +(?:\S+ +)??"#
                + #"(?<process>\d+) +(?<thread>\d+) (?<level>[VDIWEFAS]) (?<text>.*)"#,
            patternWithoutThread: #"(?:[-\d]+ [\d:.]+ )?[VDIWEFAS]/.+?\( *\d+\): .*"#,
            advice: "adb logcat -v threadtime", comment: "--------- "),
        LogForm(
            name: "log4j",
            pattern: #"(?<time>\#(clock)) +\[ *(?<name>.+?) *\] +(?<level>\#(levels)) +(?<text>.*)"#,
            patternWithoutThread: #"\#(clock) +(?:\#(levels)) +.*"#, advice: "the pattern %d [%t] %-5p %c - %m%n"),
        LogForm(
            name: "python",
            // The text before the thread, such as a level and a name, is compared too.
            pattern: #"(?<time>\#(date),\d{3})(?<level>[^(]* |)\( *(?<name>[^()]+?(?: \([^()]*\))?) *\)"#
                + #"(?<text>(?:[\] :\-].*)?)"#,
            patternWithoutThread: #"\#(date),\d{3} .*|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[^:]+:.*"#,
            advice: "the format %(asctime)s %(levelname)s (%(threadName)s) %(message)s"),
        LogForm(
            name: "gst",
            pattern: #"(?<time>\d+:\d\d:\d\d\.\d+) +(?<process>\d+) +(?<thread>0x[\da-fA-F]+) +(?<level>[A-Z]+) +"#
                + #"(?<text>.*)"#,
            advice: "GST_DEBUG prints them"),
        LogForm(
            name: "swift-log",
            pattern: #"(?<time>\#(date)\S*) (?<level>(?:\#(severities))\b.*?)"#
                + #"thread=\{number = (?<thread>\d+), name = (?<name>.*?)\}(?<text>.*)"#,
            patternWithoutThread: #"\#(date)\S* (?:\#(severities))\b.*"#,
            advice: "the metadata thread={number = 2, name = worker}, see the article Comparing runs"),
    ]

    private static let date = #"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d"#
    private static let clock = #"(?:\d[-\dT ]*)?\d\d:\d\d:\d\d[-.,:+Z\d]*"#
    private static let levels = "TRACE|DEBUG|INFO|WARN|ERROR|FATAL"
    private static let severities = "trace|debug|info|notice|warning|error|critical"

    /// The forms that the option `--form` names, or one of a regular expression.
    package static func named(_ option: String) throws(LogPattern.Refusal) -> [LogForm] {
        let found = all.filter { $0.name == option }
        guard found.isEmpty else { return found }
        let pattern = try LogPattern(option, option: "--form")
        guard pattern.has("text"), pattern.has("thread") || pattern.has("name") || pattern.has("chain") else {
            throw LogPattern.Refusal(
                "--form must be one of \(names.joined(separator: ", ")), or a regular expression with the groups text "
                    + "and thread, name or chain, such as '(?<time>\\S+) (?<thread>\\S+) (?<text>.*)'; got \"\(option)\"."
            )
        }
        return [LogForm(name: "--form", pattern: option, advice: "", isCustom: true)]
    }

    package static var names: [String] {
        all.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension LogForm {
    /// The form that most of the first lines of a log have. A form counts as one with threads if at least half of its
    /// lines have one.
    ///
    /// - Throws: `LogError` if there is none, which says how to print threads.
    static func recognise(_ lines: [String], _ forms: [LogForm], _ log: String) throws -> LogForm {
        guard let first = lines.first else { throw LogError(log: log, line: nil, problem: "contains no log lines.") }
        func count(_ pattern: String?) throws -> Int {
            guard let pattern = try pattern.map({ try LogPattern($0, option: "--form") }) else { return 0 }
            return try lines.count { try pattern.match($0) != nil }
        }
        let threads = try forms.map { try count($0.pattern) }
        let bare = try forms.map { try count($0.patternWithoutThread) }
        let (most, mostBare) = (threads.max() ?? 0, bare.max() ?? 0)
        if most > 0, most * 2 >= mostBare { return forms[threads.firstIndex(of: most) ?? 0] }
        let found = zip(forms, bare).filter { mostBare > 0 && $0.1 == mostBare }.map(\.0)
        let names = found.map(\.name).joined(separator: " or ")
        let problem = found.isEmpty ? "of no form that is known" : "of the form \(names), without threads"
        let advice =
            found.isEmpty
            ? "Print the thread in each line, for example as NSLog does, and name another form with --form "
                + "'(?<time>\\S+) (?<thread>\\S+) (?<text>.*)'."
            : "Print them with \(found.map(\.advice).joined(separator: ", or with "))."
        let tried = Self.names.filter { name in forms.contains { $0.name == name } }.joined(separator: ", ")
        throw LogError(
            log: log, line: nil,
            problem:
                "its lines are \(problem). Tried: \(tried.isEmpty ? "--form" : tried). The first line is \"\(Excerpt.of(first))\". "
                + advice)
    }
}
