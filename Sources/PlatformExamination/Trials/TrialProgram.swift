internal import Foundation
internal import Scenarios

/// The program of each process of a trial.
package enum TrialProgram {
    /// Puts a question to one side, on the main thread.
    /// - Parameter echo: receives each event at once, as a line.
    @MainActor
    package static func perform(
        _ name: String, _ side: TrialSide, echo: @escaping @Sendable (String) -> Void
    ) throws {
        guard let body = question(named: name)?.body(for: side) else {
            throw ScenarioError.child(problem: "there is no question \"\(name)\" to \(side.rawValue)")
        }
        try body(TrialNotes(echo: echo))
    }

    private static func question(named name: String) -> TrialQuestion? {
        QueuePromise.named(name).map(TrialQuestion.init)
            ?? PlatformFact.all.lazy.flatMap(\.questions).first { $0.name == name }
    }
}
