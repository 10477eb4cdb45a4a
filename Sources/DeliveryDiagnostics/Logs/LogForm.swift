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
            advice: "log show --style compact"),
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
            advice: "adb logcat -v threadtime", comment: "--------- "),
        LogForm(
            name: "log4j",
            pattern: #"(?<time>\#(clock)) +\[ *(?<name>.+?) *\] +(?<level>\#(levels)) +(?<text>.*)"#,
            advice: "the pattern %d [%t] %-5p %c - %m%n"),
        LogForm(
            name: "python",
            // The text before the thread, such as a level and a name, is compared too.
            pattern: #"(?<time>\#(date),\d{3})(?<level>[^(]* |)\( *(?<name>[^()]+?(?: \([^()]*\))?) *\)"#
                + #"(?<text>(?:[\] :\-].*)?)"#,
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
                "--form must be one of \(names.joined(separator: ", ")), or a regular expression with the groups "
                    + "text and thread, name or chain, such as '(?<time>\\S+) (?<thread>\\S+) (?<text>.*)'; "
                    + "got \"\(option)\"."
            )
        }
        return [LogForm(name: "--form", pattern: option, advice: "", isCustom: true)]
    }

    package static var names: [String] {
        all.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension LogForm {
    /// The form that most of the first lines of a log have.
    ///
    /// - Throws: `LogError` if there is none, which says how to print threads.
    static func recognise(_ lines: [String], _ forms: [LogForm], _ log: String) throws -> LogForm {
        guard let first = lines.first else { throw LogError(log: log, line: nil, problem: "contains no log lines.") }
        let counts = try forms.map { form in
            let pattern = try LogPattern(form.pattern, option: "--form")
            return try lines.count { try pattern.match($0) != nil }
        }
        if let most = counts.max(), most > 0, let found = counts.firstIndex(of: most) { return forms[found] }
        let advice = forms.map { "  \($0.name): \($0.advice)" }.joined(separator: "\n")
        throw LogError(
            log: log, line: nil,
            problem:
                "no line names a thread in a form that was tried. The first line is \"\(Excerpt.of(first))\". Print "
                + "the thread in each line, or name another form with --form '(?<time>\\S+) (?<thread>\\S+) "
                + "(?<text>.*)'. Tried:\n\(advice)")
    }
}
