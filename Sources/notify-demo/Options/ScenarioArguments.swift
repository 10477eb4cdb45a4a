internal import ArgumentParser
internal import DeliveryDiagnostics
package import Scenarios

extension ObserverCapture: ExpressibleByArgument {}

/// The name of a scenario, and its options.
struct ScenarioArguments: ParsableArguments {
    @Argument(help: "The scenario; 'notify-demo list' lists all.", completion: .list(ScenarioCatalog.all.map(\.name)))
    var name: String

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

    /// - Throws: `ValidationError` if there is no scenario with this name.
    @discardableResult static func check(name: String) throws -> any Scenario {
        if let scenario = ScenarioCatalog.named(name) { return scenario }
        let nearest = Suggestion.nearest(to: name, among: ScenarioCatalog.all.map(\.name))
        throw ValidationError(
            "there is no scenario \"\(name)\". \(nearest.map { "Did you mean \"\($0)\"? " } ?? "")"
                + "'notify-demo list' lists all.")
    }

    func validate() throws {
        let scenario = try Self.check(name: name)
        let given: [(ScenarioOptions.Name, Bool)] = [
            (.posters, posters != nil), (.notifications, notifications != nil), (.dropSignals, dropSignals != nil),
            (.seed, seed != nil), (.capture, capture != nil),
        ]
        for (option, isGiven) in given where isGiven && !scenario.options.contains(option) {
            let takers = ScenarioCatalog.all.filter { $0.options.contains(option) }.map(\.name)
            throw ValidationError(
                "the scenario \"\(name)\" takes no --\(option.rawValue); \(takers.joined(separator: " and ")) "
                    + "\(takers.count == 1 ? "does" : "do").")
        }
        try ValidationError.check { try scenario.validate(options) }
    }

    var options: ScenarioOptions {
        var options = ScenarioOptions(notifications: notifications, capture: capture)
        if let posters { options.posters = posters }
        if let dropSignals { options.dropSignals = dropSignals }
        if let seed { options.seed = seed }
        return options
    }
}
