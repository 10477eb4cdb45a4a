import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

/// The rules that a command checks.
struct RuleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A rule, such as 'Saved on main'. May be repeated.", valueName: "rule"))
    var rule: [String] = []

    @Option(
        help: ArgumentHelp("A file with a rule on each line; - is standard input. May be repeated.", valueName: "file"),
        completion: .file())
    var rules: [String] = []

    func validate() throws {
        if rule.isEmpty, rules.isEmpty {
            throw ValidationError("name a rule, for example --rule 'Saved on main', or a file of rules with --rules.")
        }
        if rules.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once. Name a file for one of the --rules.")
        }
        try ValidationError.check { for text in rule { _ = try RuleParser.rule(argument: text, option: "--rule") } }
    }

    /// Reads the rules: those of the files, then the others.
    ///
    /// - Throws: `LogError` for a file that cannot be read, `ValidationError` for a rule that cannot.
    func read() throws -> [Rule] {
        try rules.flatMap { try Self.rules(inFile: $0) }
            + rule.map { try RuleParser.rule(argument: $0, option: "--rule") }
    }

    /// Reads the rules of a file.
    ///
    /// - Throws: `LogError` if it cannot be read, `ValidationError` for a rule that cannot.
    static func rules(inFile path: String) throws -> [Rule] {
        let text = try RuleFile.text(path: path)
        do {
            return try RuleFile.rules(text, path: path)
        } catch { throw ValidationError("\(error)") }
    }
}
