/// The object that a run measures in rounds. The other subjects of the workload exist at the same time, and are idle.
package protocol BenchmarkSubject: AnyObject {
    /// Performs a number of operations and returns their cost. Called on the main thread, which it may block and whose
    /// run loop it may run. Returns when all notifications were handled.
    ///
    /// - Throws: `BenchmarkError` if a notification was not handled, or not within the timeout.
    func measure(_ operations: Int) throws -> Sample

    /// Ends the threads and removes the observers. Called once, after the last round, even if a round threw.
    func end() throws
}
