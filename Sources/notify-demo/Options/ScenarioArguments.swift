internal import ArgumentParser
internal import DeliveryDiagnostics
package import Scenarios

extension ObserverCapture: ExpressibleByArgument {}

extension ScenarioCatalog {
    static let completion = CompletionKind.list(all.map(\.name))

    /// - Throws: `ValidationError` if there is no scenario with this name.
    static func scenario(_ name: String) throws -> any Scenario {
        if let scenario = named(name) { return scenario }
        let nearest = Suggestion.nearest(to: name, among: all.map(\.name))
        throw ValidationError(
            "there is no scenario \"\(name)\". \(nearest.map { "Did you mean \"\($0)\"? " } ?? "")"
                + "'notify-demo list' lists all.")
    }
}

/// A scenario, and its options.
struct ScenarioArguments: ParsableArguments {
    @Argument(
        help: "The scenario; 'notify-demo list' lists all.", completion: ScenarioCatalog.completion,
        transform: ScenarioCatalog.scenario)
    var name: any Scenario

    @Option(
        help: ArgumentHelp(
            "The number of posting threads (flood, many-observers; 1 to 256, default 4).", valueName: "n"))
    var posters: Int?

    @Option(
        help: ArgumentHelp(
            """
            The number of notifications posted by all threads together, 1 to 1000000 (flood, default 10000; \
            held-message, default 3; many-observers, at most 50000, default 100).
            """, valueName: "n"))
    var notifications: Int?

    @Option(
        help: ArgumentHelp(
            "The probability with which a signal is lost (flood; 0 to 1, default 0.9).", valueName: "p"))
    var dropSignals: Double?

    @Option(help: ArgumentHelp("The seed that decides which signals are lost (flood; default 1).", valueName: "n"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "How the handler holds the observer (observer-lifetime; default: each way in turn).", valueName: "how"))
    var capture: ObserverCapture?

    func validate() throws {
        let given: [(ScenarioOptions.Name, Any?)] = [
            (.posters, posters), (.notifications, notifications), (.dropSignals, dropSignals), (.seed, seed),
            (.capture, capture),
        ]
        for (option, value) in given where value != nil && !name.options.contains(option) {
            throw ValidationError(
                "the scenario \"\(name.name)\" takes no --\(option.rawValue). 'notify-demo list' lists the options.")
        }
        try ValidationError.check { try name.validate(options) }
    }

    var options: ScenarioOptions {
        var options = ScenarioOptions(notifications: notifications, capture: capture)
        options.posters = posters ?? options.posters
        options.dropSignals = dropSignals ?? options.dropSignals
        options.seed = seed ?? options.seed
        return options
    }
}
