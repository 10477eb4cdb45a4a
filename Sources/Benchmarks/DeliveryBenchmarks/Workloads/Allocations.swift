internal import CControl

/// The number of allocations for a notification that is delivered to another thread, after an equally long burst as a
/// warm-up. Bursts are short, because the memory of a long backlog is not kept for reuse.
enum Allocations {
    static let workload = Workload(
        name: "allocations",
        summary: "allocations by all threads while one posts to another, warmed up",
        unit: .allocations(per: "notification"),
        operations: 10...10_000, quickOperations: 10...1_000,
        contenders: [
            Contender("ThreadedNotificationCenter") { try AllocationCount($0, through: Channel.ours) },
            Contender("RedirectingObserver") { try AllocationCount($0, through: Channel.redirecting) },
            Contender("addObserver(queue:)") { try AllocationCount($0, through: Channel.operationQueues) },
            Contender("DispatchQueue.async") { try AllocationCount($0, through: Channel.dispatchQueues) },
            Contender("RunLoop.perform") { try AllocationCount($0, through: Channel.runLoops) },
        ])

    /// True if the program can count: it has the target CAllocationCounter, and no sanitizer.
    static var canBeCounted: Bool { CControlCanCountAllocations() }
}

private final class AllocationCount: BenchmarkSubject {
    private let burst: BurstSubject

    init(_ conditions: BenchmarkConditions, through channel: (Arrivals, BenchmarkConditions) throws -> Channel) throws {
        burst = try BurstSubject(posters: 1, conditions, through: channel)
    }

    func measure(_ operations: Int) throws -> Sample {
        _ = try burst.measure(operations)
        CControlBeginCountingAllocations()
        defer { _ = CControlEndCountingAllocations() }
        _ = try burst.measure(operations)
        return Sample(operations: operations, total: Double(CControlEndCountingAllocations()))
    }

    func end() throws {
        try burst.end()
    }
}
