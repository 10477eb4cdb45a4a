/// What is measured in rounds. Others of the same workload exist at the same time, and do nothing meanwhile.
package protocol BenchmarkSubject: AnyObject {
    /// Does so many operations and says what they cost. Called on the main thread, which it may block and whose run
    /// loop it may run; returns when everything is handled.
    ///
    /// - Throws: `BenchmarkError` if not all was handled, or not within the places' limit.
    func measure(_ operations: Int) throws -> Sample

    /// Ends its threads and removes its observers. Called once, after the last round, also if a round threw.
    func end() throws
}
