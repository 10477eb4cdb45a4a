internal import CControl

/// The cores of the processor, and the threads bound to them.
package enum ProcessorCores {
    /// Restricts the calling thread, and threads that it starts later, to these cores.
    ///
    /// - Throws: `BenchmarkError.noSuchCore` if the thread may not run on one of them; then nothing changes.
    package static func pinCurrentThread(to cores: [Int]) throws(BenchmarkError) {
        for core in cores where !mayRun(on: core) { throw .noSuchCore(core) }
        let numbers = cores.map(Int32.init)
        guard CControlPin(numbers, Int32(numbers.count)) == 0 else { throw .noSuchCore(cores.first ?? -1) }
    }

    /// Pins the calling thread to a core; nil: to none. A run pins its own thread first, so the core exists.
    static func pinBenchmarkThread(to core: Int?) {
        if let core { try? pinCurrentThread(to: [core]) }
    }

    /// The cores that the calling thread may run on.
    package static var available: [Int] { (0..<1024).filter(mayRun) }

    private static func mayRun(on core: Int) -> Bool {
        Int32(exactly: core).map(CControlMayRunOn) ?? false
    }
}
