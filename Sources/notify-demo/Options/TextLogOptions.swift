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

    /// - Throws: `LogPattern.Refusal` if the form is none.
    func options() throws -> TextLog.Options {
        var options = TextLog.Options()
        if let form { options.forms = try LogForm.named(form) }
        (options.masks, options.fromLine, options.unit) = (mask, fromLine, unit)
        options.skipsOtherLines = skipOtherLines
        return options
    }
}
