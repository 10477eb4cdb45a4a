internal import Foundation

/// What each process of a comparison does.
public enum QueuePromiseProgram {
    /// Has a queue keep a promise, or not, on the main thread.
    /// - Parameter echo: told what happens, at once.
    @MainActor
    public static func perform(
        _ name: String, _ kind: QueueKind, echo: @escaping @Sendable (String) -> Void
    ) throws {
        guard let promise = QueuePromise.named(name) else {
            throw ScenarioError.child(problem: "there is no promise \"\(name)\"")
        }
        try QueueTrial.perform(promise, kind, notes: TrialNotes(echo: echo))
    }
}
