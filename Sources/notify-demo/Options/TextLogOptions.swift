import ArgumentParser
import DeliveryDiagnostics

/// How `compare` reads text logs.
struct TextLogOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The form of text logs: a name, or a regular expression for a line with the groups text and thread or chain; "
                + "optionally name, time, process and level.", valueName: "form"))
    var form: String?

    @Option(
        help: ArgumentHelp(
            "Threads with such names, or ids, stand for one another. May be repeated.", valueName: "regex"))
    var pool: [String] = []

    @Option(
        help: ArgumentHelp("The lines that begin a run of work of a pool. Its order is compared.", valueName: "regex"))
    var unit: String?

    @Option(
        help: ArgumentHelp(
            "Do not compare what this matches in lines of text logs. May be repeated.", valueName: "regex"))
    var mask: [String] = []

    @Option(help: ArgumentHelp("Compare text logs from the first line in which this matches.", valueName: "regex"))
    var fromLine: String?

    @Flag(help: "Skip lines of a text log that are neither in its form nor indented.")
    var skipOtherLines = false

    /// The first option that was given; nil if none was.
    var given: String? {
        [
            ("--form", form != nil), ("--pool", !pool.isEmpty), ("--unit", unit != nil), ("--mask", !mask.isEmpty),
            ("--from-line", fromLine != nil), ("--skip-other-lines", skipOtherLines),
        ].first(where: \.1)?.0
    }

    /// Refuses what is no regular expression before a run is read.
    func validate() throws {
        try ValidationError.check {
            _ = try options()
            for (option, patterns) in [
                ("--pool", pool), ("--unit", unit.map { [$0] } ?? []), ("--mask", mask),
                ("--from-line", fromLine.map { [$0] } ?? []),
            ] { for pattern in patterns { _ = try LogPattern(pattern, option: option) } }
        }
    }

    /// - Throws: `LogPattern.Refusal` if the form is none.
    func options() throws -> TextLog.Options {
        var options = TextLog.Options()
        if let form { options.forms = try LogForm.named(form) }
        (options.masks, options.fromLine, options.unit) = (mask, fromLine, unit)
        options.skipsOtherLines = skipOtherLines
        return options
    }
}
